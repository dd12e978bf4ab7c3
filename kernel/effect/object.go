package effect

import (
	"reflect"
	"strconv"
	"strings"
)

// ObjectOf describes the JSON object that a T, which is a struct, is written as: each exported field is a member under
// the name of its json tag, in the order of the fields, and required unless the tag says omitempty. The tags min, max,
// about and enum, whose values are separated by commas, are what they are in a Field; schema:"-" leaves a field out.
// ObjectOf panics where a tag is malformed or no Field is of the type.
func ObjectOf[T any]() Object { return objectOf(reflect.TypeFor[T]()) }

func objectOf(t reflect.Type) (out Object) {
	for i := range t.NumField() {
		from := t.Field(i)
		if !from.IsExported() || from.Tag.Get("schema") == "-" {
			continue
		}
		name, options, _ := strings.Cut(from.Tag.Get("json"), ",")
		f := Field{Name: name, Required: options != "omitempty", Min: bound(from.Tag, "min"),
			Max: bound(from.Tag, "max"), About: from.Tag.Get("about")}
		if values := from.Tag.Get("enum"); values != "" {
			f.Enum = strings.Split(values, ",")
		}
		f.Type, f.Fields = valueType(from.Type)
		out = append(out, f)
	}
	return out
}

func bound(tag reflect.StructTag, name string) int64 {
	text, ok := tag.Lookup(name)
	if !ok {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

// valueType says how values of a Go type are described, with the members of what an array of objects holds.
func valueType(t reflect.Type) (ValueType, Object) {
	switch t.Kind() {
	case reflect.Pointer:
		return valueType(t.Elem())
	case reflect.String:
		return String, nil
	case reflect.Int, reflect.Int64, reflect.Uint16:
		return Integer, nil
	case reflect.Bool:
		return Boolean, nil
	case reflect.Slice:
		switch t.Elem().Kind() {
		case reflect.String:
			return Strings, nil
		case reflect.Struct:
			return Objects, objectOf(t.Elem())
		}
	}
	panic("effect: no schema for " + t.String())
}
