package endpoint

import (
	"encoding/json"
	"testing"
)

func TestDecodeTakesWhatIsOdd(t *testing.T) {
	type shape struct {
		Text  Text  `json:"text"`
		Count Count `json:"count"`
		Deep  struct {
			List []struct {
				N int `json:"n"`
			} `json:"list"`
		} `json:"deep"`
		After string `json:"after"`
	}
	for in, want := range map[string]shape{
		`{"text":"a","count":3,"after":"x"}`:                                      {Text: "a", Count: 3, After: "x"},
		`{"text":null,"count":null,"deep":null,"after":"x"}`:                      {After: "x"},
		`{"text":7,"count":"12","deep":5,"after":"x"}`:                            {Text: "7", Count: 12, After: "x"},
		`{"text":{"a": [1]},"count":12.9,"deep":{"list":{"n":1}},"after":"x"}`:    {Text: `{"a": [1]}`, Count: 12, After: "x"},
		`{"text":true,"count":-4,"deep":{"list":[1,{"n":"a"}]},"after":"x"}`:      {Text: "true", After: "x"},
		`{"text":"\ud800","count":1e300,"after":"x"}`:                             {Text: "\uFFFD", Count: 1 << 53, After: "x"},
		`{"text":"","count":"NaN","after":"x"}`:                                   {After: "x"},
		`{"text":[],"count":{},"unknown":{"text":1},"after":"x","deep":["list"]}`: {Text: "[]", After: "x"},
	} {
		var got shape
		if err := Decode([]byte(in), &got); err != nil {
			t.Errorf("%s: %v", in, err)
		}
		got.Deep.List = nil
		if got.Text != want.Text || got.Count != want.Count || got.After != want.After {
			t.Errorf("%s: %+v, want %+v", in, got, want)
		}
	}
	for _, in := range []string{``, ` `, `null`, ` null `, `[]`, `"a"`, `5`, `{`, `{"text":}`, `{} {}`, `{"text":"a"`} {
		if err := Decode([]byte(in), &shape{}); err == nil {
			t.Errorf("%q was taken", in)
		}
	}
}

// What servers send is decoded, or refused as no JSON object, without a panic.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"t":"a","c":1,"l":[{"t":5}]}`, `{"t":null,"c":"1e9"}`, `[]`, `{"c":-0.0,"l":{}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var v struct {
			T Text  `json:"t"`
			C Count `json:"c"`
			L []struct {
				T Text `json:"t"`
			} `json:"l"`
		}
		err := Decode(b, &v)
		var object map[string]json.RawMessage
		if isObject := json.Unmarshal(b, &object) == nil && object != nil; isObject != (err == nil) {
			t.Fatalf("%v for %q", err, b)
		}
		if v.C < 0 {
			t.Fatalf("a count of %d", v.C)
		}
	})
}
