// Package secret finds what gives access to something: keys and tokens by their forms, private keys, passwords in
// addresses, values that look random and stand behind a name that says so, and values that are known. It puts a mark in
// their place, in whole texts and in streams. It knows no file and no environment; who reads those gives it the values.
//
// What is found is a guess but for the values that are known: an example in a manual is left alone where it says that
// it is one, and whoever decides by a finding asks somebody.
package secret
