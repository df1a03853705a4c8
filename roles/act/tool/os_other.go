//go:build !darwin

package tool

// onMac is false: there is no Spotlight and no AppleScript.
const onMac = false
