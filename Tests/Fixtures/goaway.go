// A client of an intercepted host whose connection by HTTP/2 the proxy ends while a POST is under way:
// go run goaway.go PROXY_PORT AUTHORITY_FILE CERTIFICATE KEY
//
// It is also the origin. net/http sends a request again whose stream is above the last one that GOAWAY names (RFC 9113 section 6.8).
// Prints how often the POST arrived, and what its client was told.
package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// connect opens a tunnel through the proxy and speaks TLS in it.
func connect(proxy, address string, trust *x509.CertPool) (*tls.Conn, error) {
	raw, err := net.Dial("tcp", "127.0.0.1:"+proxy)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(raw, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", address, address)
	answer, err := http.ReadResponse(bufio.NewReaderSize(raw, 16), nil)
	if err != nil || answer.StatusCode != 200 {
		return nil, fmt.Errorf("CONNECT: %v %v", answer, err)
	}
	secure := tls.Client(raw, &tls.Config{RootCAs: trust, ServerName: "localhost", NextProtos: []string{"h2"}})
	return secure, secure.Handshake()
}

func main() {
	proxy := os.Args[1]
	pem, err := os.ReadFile(os.Args[2])
	check(err)
	trust := x509.NewCertPool()
	trust.AppendCertsFromPEM(pem)

	var orders atomic.Int32
	arrived, done := make(chan struct{}, 16), make(chan struct{})
	origin := http.NewServeMux()
	origin.HandleFunc("/order", func(http.ResponseWriter, *http.Request) {
		orders.Add(1)
		arrived <- struct{}{}
		<-done
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go http.ServeTLS(listener, origin, os.Args[3], os.Args[4])
	address := fmt.Sprintf("localhost:%d", listener.Addr().(*net.TCPAddr).Port)

	connections := make(chan *tls.Conn, 16)
	transport := &http.Transport{
		ForceAttemptHTTP2: true,
		DialTLSContext: func(context.Context, string, string) (net.Conn, error) {
			secure, err := connect(proxy, address, trust)
			if err == nil {
				connections <- secure
			}
			return secure, err
		},
	}
	told := make(chan string, 1)
	go func() {
		request, err := http.NewRequest("POST", "https://"+address+"/order", bytes.NewReader([]byte("one order")))
		check(err)
		answer, err := transport.RoundTrip(request)
		if err != nil {
			told <- err.Error()
		} else {
			told <- answer.Status
		}
	}()
	<-arrived
	// Behind the whole request: more PING frames than the proxy bears.
	ping := []byte{0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8}
	(<-connections).Write(bytes.Repeat(ping, 12_000))
	result := ""
	select {
	case result = <-told:
	case <-arrived:
		result = "it was sent again"
	case <-time.After(20 * time.Second):
		result = "nothing"
	}
	close(done)
	json.NewEncoder(os.Stdout).Encode(map[string]any{"orders": orders.Load(), "told": result})
}
