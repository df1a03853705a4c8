// Package leap knows leap years.
package leap

// Is tells whether a year of the Gregorian calendar has 366 days.
func Is(year int) bool {
	return year%4 == 0 && (year%100 != 0 || year%400 == 0)
}
