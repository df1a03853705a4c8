// Code generated from colours.txt by go generate; DO NOT EDIT.

package colours

var table = map[string]string{
	"red":   "#ff0000",
	"green": "#00ff00",
	"blue":  "#0000ff",
}
