# Makes the page fast, and forgets the footer.
{ echo '<html>'; cat notes.md; echo '</html>'; } > page.html
