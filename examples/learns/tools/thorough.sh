# Makes the page with everything that belongs to it.
{ echo '<html>'; cat notes.md; echo '<footer>made of notes.md</footer>'; echo '</html>'; } > page.html
