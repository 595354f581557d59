package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

type corpus struct {
	dir   string
	files map[string]*bytes.Buffer
}

func (c *corpus) add(theme string, sc *Scenario, out *Out) {
	b, err := marshal(Line{sc, out})
	check(err)
	if c.files[theme] == nil {
		c.files[theme] = &bytes.Buffer{}
	}
	c.files[theme].Write(append(b, '\n'))
}

func (c *corpus) write() {
	check(os.MkdirAll(c.dir, 0o755))
	for n, b := range c.files {
		check(os.WriteFile(filepath.Join(c.dir, n+".jsonl"), b.Bytes(), 0o644))
	}
}

// repeats tells whether the written form alone reproduces the timeline. It does not when the genuine controller itself
// decides by the order of a map: with an ambiguous selector it names two autoscalers in random order, rewrites the status
// for that, and shows it when the write fails at the same time.
func repeats(t *testing.T, sc *Scenario, out *Out) bool {
	b, err := marshal(sc)
	check(err)
	again := &Scenario{}
	check(json.Unmarshal(b, again))
	x, err := marshal(out)
	check(err)
	y, err := marshal(RunStatic(t, again))
	check(err)
	return bytes.Equal(x, y)
}

// More unrepeatable scenarios than one in so many are no accident.
const repeatable = 20

func cmdGen(args []string) {
	fs := flag.NewFlagSet("gen", flag.ExitOnError)
	seed := fs.Uint64("seed", 1, "seed")
	count := fs.Int("count", 10, "number of scenarios")
	dir := fs.String("out", "", "folder for the corpus files")
	theme := fs.String("theme", "", "one theme only")
	only := fs.Int("only", -1, "one scenario of the seed only")
	check(fs.Parse(args))
	withT(func(t *testing.T) {
		c := &corpus{*dir, map[string]*bytes.Buffer{}}
		left := 0
		for i := 0; i < *count; i++ {
			if *only >= 0 && i != *only {
				continue
			}
			sc, out := Generate(t, *seed, i, *theme)
			if !repeats(t, sc, out) {
				fmt.Fprintf(os.Stderr, "%s: left out, a second run differs\n", sc.Name)
				if left++; left*repeatable > *count {
					t.Fail()
				}
				continue
			}
			if *dir == "" {
				b, err := marshal(Line{sc, out})
				check(err)
				fmt.Println(string(b))
				continue
			}
			c.add(sc.Theme, sc, out)
		}
		if *dir != "" {
			c.write()
		}
	})
}
