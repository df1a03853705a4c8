package tool

// onMac: Spotlight and AppleScript are there.
const onMac = true
