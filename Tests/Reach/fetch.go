// Fetches the first argument into the file that the second names.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
)

func main() {
	answer, err := http.Get(os.Args[1])
	if err == nil && answer.StatusCode != 200 {
		err = fmt.Errorf("status %d", answer.StatusCode)
	}
	var body []byte
	if err == nil {
		body, err = io.ReadAll(answer.Body)
	}
	if err == nil {
		err = os.WriteFile(os.Args[2], body, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
