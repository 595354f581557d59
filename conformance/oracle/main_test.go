package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestCorpus replays the stored scenarios and compares the timelines byte by
// byte.
func TestCorpus(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join("..", "..", "fixtures", "oracle", "*.jsonl"))
	if len(files) == 0 {
		t.Fatal("the project's timelines are not where they belong")
	}
	for _, fn := range files {
		f, err := os.Open(fn)
		check(err)
		r := bufio.NewReaderSize(f, 1<<20)
		for n := 1; ; n++ {
			line, err := r.ReadBytes('\n')
			if line = bytes.TrimSpace(line); len(line) > 0 {
				var l struct {
					Sc  *Scenario
					Out json.RawMessage
				}
				check(json.Unmarshal(line, &l))
				got, err := marshal(RunStatic(t, l.Sc))
				check(err)
				if !bytes.Equal(got, l.Out) {
					t.Errorf("%s: %s differs", fn, l.Sc.Name)
				}
			}
			if err != nil {
				break
			}
		}
		f.Close()
	}
}
