// Command key prints a new RSA key in PEM: the kube-apiserver signs service account tokens with one.
package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"log"
	"os"
)

const bits = 2048

func main() {
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		log.Fatal(err)
	}
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	if err := pem.Encode(os.Stdout, block); err != nil {
		log.Fatal(err)
	}
}
