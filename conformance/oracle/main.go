// Command oracle runs the genuine HPA controller of Kubernetes in virtual time against scripted clusters and writes
// down what it did in each sync. README.md tells the format and the commands.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"testing"
)

// withT runs f as a test: synctest accepts nothing else. It does not return.
func withT(f func(t *testing.T)) {
	testing.Init()
	check(flag.CommandLine.Parse(nil))
	testing.Main(func(_, _ string) (bool, error) { return true, nil },
		[]testing.InternalTest{{Name: "oracle", F: func(t *testing.T) {
			f(t)
			if !t.Failed() {
				os.Exit(0) // before the verdict is printed
			}
		}}}, nil, nil)
}

func readScenarios(r io.Reader) []*Scenario {
	var out []*Scenario
	br := bufio.NewReaderSize(r, 1<<20)
	for n := 1; ; n++ {
		b, err := br.ReadBytes('\n')
		if b = bytes.TrimSpace(b); len(b) > 0 {
			out = append(out, parseLine(b, n))
		}
		if err != nil {
			return out
		}
	}
}

func parseLine(b []byte, n int) *Scenario {
	var l struct {
		Sc *Scenario `json:"sc"`
	}
	if err := json.Unmarshal(b, &l); err != nil {
		panic(fmt.Sprintf("line %d: %v", n, err))
	}
	if l.Sc != nil {
		return l.Sc
	}
	sc := &Scenario{}
	if err := json.Unmarshal(b, sc); err != nil {
		panic(fmt.Sprintf("line %d: %v", n, err))
	}
	return sc
}

func cmdRun(args []string) {
	fs := flag.NewFlagSet("run", flag.ExitOnError)
	in := fs.String("in", "-", "scenario lines")
	outp := fs.String("out", "-", "timeline lines")
	full := fs.Bool("full", false, "write {sc,out} instead of {name,out}")
	check(fs.Parse(args))
	var r io.Reader = os.Stdin
	if *in != "-" {
		f, err := os.Open(*in)
		check(err)
		r = f
	}
	var o io.Writer = os.Stdout
	if *outp != "-" {
		f, err := os.Create(*outp)
		check(err)
		o = f
	}
	bw := bufio.NewWriter(o)
	withT(func(t *testing.T) {
		br := bufio.NewReaderSize(r, 1<<20)
		for n := 1; ; n++ {
			b, err := br.ReadBytes('\n')
			if b = bytes.TrimSpace(b); len(b) > 0 {
				sc := parseLine(b, n)
				res := RunStatic(t, sc)
				var v any = struct {
					Name string `json:"name"`
					Out  *Out   `json:"out"`
				}{sc.Name, res}
				if *full {
					v = Line{sc, res}
				}
				line, err := marshal(v)
				check(err)
				bw.Write(line)
				bw.WriteByte('\n')
				bw.Flush() // answers line by line
			}
			if err != nil {
				return
			}
		}
	})
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: oracle run|gen|hand [flags]")
		os.Exit(2)
	}
	args := os.Args[2:]
	switch os.Args[1] {
	case "hand":
		cmdHand(args)
	case "gen":
		cmdGen(args)
	case "run":
		cmdRun(args)
	default:
		fmt.Fprintln(os.Stderr, "unknown command", os.Args[1])
		os.Exit(2)
	}
}
