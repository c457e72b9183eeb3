// One request by Go's net/http: client get URL | put URL FILE | save URL FILE | second URL
//
// The default transport asks each https server for HTTP/2, which is `second`.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
)

func send(words []string) (string, error) {
	// The default transport goes by http_proxy and https_proxy; SSL_CERT_FILE says whom to trust.
	var body io.Reader
	method := http.MethodGet
	if words[0] == "put" {
		file, err := os.Open(words[2])
		if err != nil {
			return "", err
		}
		defer file.Close()
		body, method = file, http.MethodPut
	}
	request, err := http.NewRequest(method, words[1], body)
	if err != nil {
		return "", err
	}
	if file, ok := body.(*os.File); ok {
		information, err := file.Stat()
		if err != nil {
			return "", err
		}
		request.ContentLength = information.Size()
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if words[0] == "save" {
		output, err := os.Create(words[2])
		if err != nil {
			return "", err
		}
		defer output.Close()
		_, err = io.Copy(output, response.Body)
		return fmt.Sprint(response.StatusCode), err
	}
	text, err := io.ReadAll(response.Body)
	return fmt.Sprint(response.StatusCode, " ", string(text)), err
}

func main() {
	said, err := send(os.Args[1:])
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(said)
}
