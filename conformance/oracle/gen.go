package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The generator plays a closed loop against the real controller: pods follow
// the size the controller chose. What each sync saw is written down as a
// static scenario, so a reader never needs this model.

var themes = []struct {
	name   string
	weight int
}{
	{"resource", 10}, {"container", 7}, {"pods", 8}, {"object", 9}, {"external", 9}, {"multi", 11},
	{"behavior", 14}, {"faults", 10}, {"zero", 15}, {"midway", 11}, {"podstates", 12},
}

func pickTheme(n int) string {
	total := 0
	for _, t := range themes {
		total += t.weight
	}
	// spread evenly instead of drawing
	x := n * 37 % total
	for _, t := range themes {
		if x < t.weight {
			return t.name
		}
		x -= t.weight
	}
	return themes[0].name
}

type gpod struct {
	born    int // startTime
	pendTo  int // Pending until
	readyAt int
	sampled int // first sample
	trans   int // last readiness transition
	ready   bool
	phase   string
	del     int // deletion time, 0: alive
	goneAt  int
	miss    int // no sample until
	noReq   bool
	noCond  bool
	noStart bool
	unknown bool
	noCtr   bool // sample lacks the watched container
	plr     bool
	skew    float64
	old     bool
}

type gen struct {
	r      *rand.Rand
	sc     *Scenario
	theme  string
	steps  int
	period int

	shape                       string
	base, amp                   float64
	p1, p2                      int
	startup, sched, lag, grace  int
	jitter, perPod, burst       bool
	target                      float64 // what one pod should carry, in load units
	unitCPU                     float64 // milli-CPU per load unit
	cpuReq                      int64
	multiCtr, sidecar, pinSr    bool
	chaos                       float64
	pods                        []*gpod
	lastPods, lastExt, lastObj  string
	extNames, objNames, podMets []string
	parts                       map[string]int
	off                         map[string]float64
	winRes, winCus, winExt      [2]int
	winGet, winPut, winConf     [2]int
	winStat                     [2]int
	useMem                      bool
	zeroIdle                    [][2]int
	specNow                     autoscalingv2.HorizontalPodAutoscalerSpec
	deleted                     bool
	faultNames                  map[string][2]int
	age, win                    int
	nano                        bool
	now                         int // current size
}

func (g *gen) chance(p float64) bool { return g.r.Float64() < p }
func (g *gen) in(lo, hi int) int     { return lo + g.r.IntN(hi-lo+1) }

func pick[T any](g *gen, l ...T) T { return l[g.r.IntN(len(l))] }

func qp(s string) *resource.Quantity {
	q := resource.MustParse(s)
	return &q
}

// ---- specification ------------------------------------------------------------------

func (g *gen) rules(up bool) *autoscalingv2.HPAScalingRules {
	r := &autoscalingv2.HPAScalingRules{}
	if g.chance(0.6) {
		r.StabilizationWindowSeconds = p(pick[int32](g, 0, 0, 15, 30, 45, 60, 90, 120, 180, 300, 600, 3600))
	}
	if g.chance(0.6) {
		r.SelectPolicy = p(pick(g, autoscalingv2.MaxChangePolicySelect, autoscalingv2.MaxChangePolicySelect, autoscalingv2.MinChangePolicySelect, autoscalingv2.MinChangePolicySelect, autoscalingv2.DisabledPolicySelect))
	}
	if g.chance(0.75) {
		for i := g.in(1, 3); i > 0; i-- {
			pol := autoscalingv2.HPAScalingPolicy{PeriodSeconds: pick[int32](g, 15, 15, 30, 45, 60, 60, 90, 120, 180, 300, 600, 1800)}
			if g.chance(0.5) {
				pol.Type, pol.Value = autoscalingv2.PodsScalingPolicy, int32(g.in(1, 6))
			} else {
				pol.Type, pol.Value = autoscalingv2.PercentScalingPolicy, pick[int32](g, 5, 10, 10, 20, 25, 33, 50, 75, 90, 100, 150, 200)
				if !up && pol.Value > 100 && g.chance(0.7) {
					pol.Value = 100
				}
			}
			r.Policies = append(r.Policies, pol)
		}
	}
	if g.chance(0.35) {
		r.Tolerance = qp(pick(g, "0", "0.01", "0.02", "0.05", "0.07", "100m", "0.15", "0.2", "0.3", "0.5", "0.7", "1"))
	}
	return r
}

func (g *gen) behavior() *autoscalingv2.HorizontalPodAutoscalerBehavior {
	b := &autoscalingv2.HorizontalPodAutoscalerBehavior{}
	switch g.in(0, 9) {
	case 0:
	case 1, 2:
		b.ScaleUp = g.rules(true)
	case 3, 4:
		b.ScaleDown = g.rules(false)
	default:
		b.ScaleUp, b.ScaleDown = g.rules(true), g.rules(false)
	}
	return b
}

func (g *gen) labelSel() *metav1.LabelSelector {
	switch g.in(0, 5) {
	case 0:
		return &metav1.LabelSelector{MatchLabels: map[string]string{"queue": "jobs"}}
	case 1:
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpIn, Values: []string{"a", "b"}}}}
	}
	return nil
}

// milliText writes x units with three decimals at most.
func milliText(x float64) *resource.Quantity {
	return resource.NewMilliQuantity(max(1, int64(math.Round(x*1000))), resource.DecimalSI)
}

func (g *gen) metric(kind string) autoscalingv2.MetricSpec {
	m := autoscalingv2.MetricSpec{}
	name := func(prefix string, l *[]string) string {
		n := fmt.Sprintf("%s%d", prefix, len(*l))
		*l = append(*l, n)
		g.off[n] = pick(g, 1, 1, 1, 0.7, 1.4)
		g.parts[n] = g.in(1, 3)
		return n
	}
	util := func() autoscalingv2.MetricTarget {
		return autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: p(int32(math.Round(g.target * g.unitCPU * 100 / float64(g.cpuReq))))}
	}
	switch kind {
	case "cpu%":
		m.Type = autoscalingv2.ResourceMetricSourceType
		m.Resource = &autoscalingv2.ResourceMetricSource{Name: v1.ResourceCPU, Target: util()}
	case "cpu":
		m.Type = autoscalingv2.ResourceMetricSourceType
		m.Resource = &autoscalingv2.ResourceMetricSource{Name: v1.ResourceCPU, Target: autoscalingv2.MetricTarget{
			Type: autoscalingv2.AverageValueMetricType, AverageValue: milliText(g.target * g.unitCPU / 1000)}}
	case "mem%", "mem":
		g.useMem = true
		m.Type = autoscalingv2.ResourceMetricSourceType
		t := autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: p(int32(g.in(40, 120)))}
		if kind == "mem" {
			t = autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: qp(pick(g, "150Mi", "200Mi", "180000000"))}
		}
		m.Resource = &autoscalingv2.ResourceMetricSource{Name: v1.ResourceMemory, Target: t}
	case "ccpu%", "ccpu":
		m.Type = autoscalingv2.ContainerResourceMetricSourceType
		t := util()
		if kind == "ccpu" {
			t = autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: milliText(g.target * g.unitCPU / 1000)}
		}
		m.ContainerResource = &autoscalingv2.ContainerResourceMetricSource{Name: v1.ResourceCPU, Container: "app", Target: t}
	case "cmem":
		g.useMem = true
		m.Type = autoscalingv2.ContainerResourceMetricSourceType
		m.ContainerResource = &autoscalingv2.ContainerResourceMetricSource{Name: v1.ResourceMemory, Container: pick(g, "app", "side"), Target: autoscalingv2.MetricTarget{
			Type: autoscalingv2.AverageValueMetricType, AverageValue: qp("170Mi")}}
	case "pods":
		m.Type = autoscalingv2.PodsMetricSourceType
		n := name("pm", &g.podMets)
		m.Pods = &autoscalingv2.PodsMetricSource{Metric: autoscalingv2.MetricIdentifier{Name: n, Selector: g.labelSel()},
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: milliText(g.target)}}
	case "obj", "objavg":
		m.Type = autoscalingv2.ObjectMetricSourceType
		n := name("om", &g.objNames)
		t := autoscalingv2.MetricTarget{Type: autoscalingv2.ValueMetricType, Value: milliText(g.target * float64(g.in(1, 6)))}
		if kind == "objavg" {
			t = autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: milliText(g.target)}
		}
		m.Object = &autoscalingv2.ObjectMetricSource{
			DescribedObject: pick(g, autoscalingv2.CrossVersionObjectReference{APIVersion: "networking.k8s.io/v1", Kind: "Ingress", Name: "route"},
				autoscalingv2.CrossVersionObjectReference{APIVersion: "v1", Kind: "Namespace", Name: "any"}, autoscalingv2.CrossVersionObjectReference{Kind: "Service", Name: "web"}),
			Metric: autoscalingv2.MetricIdentifier{Name: n, Selector: g.labelSel()}, Target: t}
	case "ext", "extavg":
		m.Type = autoscalingv2.ExternalMetricSourceType
		n := name("em", &g.extNames)
		t := autoscalingv2.MetricTarget{Type: autoscalingv2.ValueMetricType, Value: milliText(g.target * float64(g.in(1, 6)))}
		if kind == "extavg" {
			t = autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: milliText(g.target)}
		}
		m.External = &autoscalingv2.ExternalMetricSource{Metric: autoscalingv2.MetricIdentifier{Name: n, Selector: g.labelSel()}, Target: t}
	default:
		panic(kind)
	}
	return m
}

func (g *gen) kinds() []string {
	any := []string{"cpu%", "cpu%", "cpu", "mem%", "mem", "pods", "obj", "objavg", "ext", "extavg", "ccpu%", "ccpu"}
	one := func(l ...string) []string { return []string{pick(g, l...)} }
	switch g.theme {
	case "resource":
		return one("cpu%", "cpu%", "cpu%", "cpu", "mem%", "mem")
	case "container":
		return one("ccpu%", "ccpu%", "ccpu", "cmem")
	case "pods":
		return one("pods")
	case "object":
		return one("obj", "objavg")
	case "external":
		return one("ext", "extavg")
	case "zero":
		l := one("ext", "extavg", "obj", "objavg")
		if g.chance(0.3) {
			l = append(l, pick(g, "ext", "obj", "cpu%", "pods"))
		}
		return l
	case "behavior":
		return one("cpu%", "cpu%", "pods", "extavg", "objavg", "ext", "mem")
	case "podstates":
		l := one("cpu%", "cpu%", "cpu%", "cpu", "pods", "obj", "ccpu%", "mem%")
		if g.chance(0.15) {
			l = append(l, "pods")
		}
		return l
	case "faults", "multi":
		n := g.in(2, 3)
		if g.theme == "faults" {
			n = g.in(1, 3)
		}
		var l []string
		for len(l) < n {
			l = append(l, pick(g, any...))
		}
		return l
	}
	l := one(any...)
	if g.chance(0.4) {
		l = append(l, pick(g, any...))
	}
	return l
}

func (g *gen) setup() {
	sc := g.sc
	g.steps = g.in(20, 60)
	g.period = 15
	fl := &Flags{}
	if g.chance(0.35) {
		g.period = pick(g, 3, 5, 10, 20, 30, 60)
		fl.Period = p(float64(g.period))
	}
	if g.chance(0.5) {
		fl.Stab = p(pick[float64](g, 0, 30, 45, 60, 60, 120, 180, 600))
	}
	if g.chance(0.3) {
		fl.Tol = p(pick(g, 0, 0.01, 0.05, 0.15, 0.2, 0.3, 0.5))
	}
	if g.chance(0.4) {
		fl.CPUInit = p(pick[float64](g, 0, 10, 30, 60, 120, 180))
	}
	if g.chance(0.3) {
		fl.Delay = p(pick[float64](g, 0, 10, 20, 60, 90))
	}
	if *fl != (Flags{}) {
		sc.Flags = fl
	}
	g.target = pick(g, 10, 20, 25, 40, 50, 60, 70, 80, 100, 7.5, 33.3)
	g.cpuReq = pick[int64](g, 100, 250, 300, 500, 1000, 1500, 333)
	util := float64(pick(g, 30, 40, 50, 60, 70, 75, 80, 80, 90, 100, 120))
	g.unitCPU = util / 100 * float64(g.cpuReq) / g.target
	g.multiCtr = g.theme == "container" || g.chance(0.2)
	g.sidecar = g.multiCtr && g.chance(0.5)
	g.startup = pick(g, 0, 5, 10, 20, 30, 45, 60, 90)
	g.sched = pick(g, 0, 0, 2, 5, 10, 20)
	g.lag = pick(g, 0, 10, 15, 30, 60)
	g.grace = pick(g, 0, 5, 20, 30)
	g.jitter, g.perPod, g.burst = g.chance(0.2), g.chance(0.3), g.chance(0.3)
	g.age, g.win = pick(g, 5, 5, 10, 15, 25), pick(g, 15, 30, 30, 60)
	g.pinSr = g.chance(0.4)

	var cs []Ctr
	memReq := pick(g, "128Mi", "200Mi", "256Mi", "300M")
	app := Ctr{Name: "app", CPU: &Qty{N: g.cpuReq}, Mem: &Qty{S: memReq}}
	cs = append(cs, app)
	if g.multiCtr {
		cs = append(cs, Ctr{Name: "side", CPU: &Qty{N: pick[int64](g, 10, 50, 100)}, Mem: &Qty{S: "64Mi"}})
	}
	if g.sidecar {
		cs = append(cs, Ctr{Name: "mesh", CPU: &Qty{N: pick[int64](g, 20, 100)}, Mem: &Qty{S: "50Mi"}, Init: "always"})
		if g.chance(0.5) {
			cs = append(cs, Ctr{Name: "setup", CPU: &Qty{N: 500}, Mem: &Qty{S: "64Mi"}, Init: "once"})
		}
	}
	sc.Ctr = cs

	spec := autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: pick(g, autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"},
			autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"},
			autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "web"},
			autoscalingv2.CrossVersionObjectReference{APIVersion: "v1", Kind: "ReplicationController", Name: "web"}),
		MaxReplicas: int32(pick(g, 4, 6, 8, 10, 12, 15, 20, 20, 30, 40)),
	}
	if g.chance(0.8) {
		spec.MinReplicas = p(int32(g.in(1, 3)))
	}
	for _, k := range g.kinds() {
		spec.Metrics = append(spec.Metrics, g.metric(k))
	}
	bp := map[string]float64{"behavior": 1, "resource": 0.3, "zero": 0.6, "midway": 0.5}[g.theme]
	if bp == 0 {
		bp = 0.35
	}
	if g.chance(bp) {
		spec.Behavior = g.behavior()
	}
	switch g.theme {
	case "zero":
		if g.chance(0.9) {
			spec.MinReplicas = p[int32](0)
		}
		if g.chance(0.15) {
			sc.Gates = map[string]bool{"HPAScaleToZero": false}
			spec.MinReplicas = p[int32](1)
		}
		if g.chance(0.9) {
			fl.Stab = p(pick[float64](g, 0, 15, 30, 60))
			sc.Flags = fl
		}
		if spec.Behavior != nil && spec.Behavior.ScaleDown != nil && g.chance(0.7) {
			spec.Behavior.ScaleDown = &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: p(pick[int32](g, 0, 30))}
		}
		for k := g.in(3, 10); k < g.steps; k += g.in(8, 22) {
			g.zeroIdle = append(g.zeroIdle, [2]int{k, k + g.in(4, 14)})
		}
	case "podstates", "container":
		g.chaos = 0.08 + 0.2*g.r.Float64()
	}
	if g.theme != "podstates" && g.chance(0.15) {
		g.chaos = 0.05
	}
	if g.chance(0.07) && sc.Gates == nil {
		sc.Gates = map[string]bool{pick(g, "HPAGeneration", "HPAOptimizedSelectorStore", "StaleControllerConsistencyHPA", "PodLevelResources", "HPAConfigurableTolerance"): false}
	}
	if g.chance(0.06) {
		spec.MinReplicas = p(spec.MaxReplicas)
	}
	lo := int32(1)
	if spec.MinReplicas != nil {
		lo = max(1, *spec.MinReplicas)
	}
	sc.R = lo + g.r.Int32N(spec.MaxReplicas-lo+1)
	switch x := g.r.Float64(); {
	case x < 0.04:
		sc.R = spec.MaxReplicas + int32(g.in(1, 5))
	case x < 0.08 && lo > 1:
		sc.R = lo - 1
	case x < 0.10:
		sc.R = 0
	}
	sc.Spec, g.specNow = spec, spec

	g.shape = pick(g, "steady", "ramp", "rampdown", "step", "stepdown", "spike", "sine", "noise", "updown")
	span := float64(spec.MaxReplicas)
	g.base = g.target * max(0.5, span*(0.1+0.5*g.r.Float64()))
	g.amp = g.target * span * (0.2 + 0.9*g.r.Float64())
	g.p1, g.p2 = g.in(3, g.steps/2), g.in(3, 25)

	win := func(pr float64) [2]int {
		if !g.chance(pr) {
			return [2]int{-1, -1}
		}
		a := g.in(1, g.steps-3)
		return [2]int{a, a + g.in(0, 6)}
	}
	fp := 0.03
	if g.theme == "faults" {
		fp = 0.4
	}
	g.winRes, g.winCus, g.winExt = win(fp), win(fp), win(fp)
	g.winGet, g.winStat = win(fp/2), win(fp/2)
	for _, w := range []*[2]int{&g.winPut, &g.winConf} {
		if *w = win(fp * 1.4); w[0] >= 0 {
			w[1] += g.in(4, 16)
		}
	}
	if g.winPut[0] >= 0 && g.winConf[0] >= 0 && g.chance(0.6) {
		g.winPut = [2]int{-1, -1}
	}
	if g.theme == "faults" && g.chance(0.6) {
		g.shape = pick(g, "noise", "sine", "spike", "updown")
		if sc.Flags == nil {
			sc.Flags = &Flags{}
		}
		sc.Flags.Stab = p(pick[float64](g, 0, 15, 30))
	}
	if g.theme == "behavior" && spec.Behavior != nil && spec.Behavior.ScaleDown != nil && g.chance(0.75) {
		spec.Behavior.ScaleDown.StabilizationWindowSeconds = p(pick[int32](g, 0, 0, 15, 30))
		g.shape = pick(g, "rampdown", "stepdown", "stepdown", "spike", "sine", "updown", "noise")
		g.p1 = g.in(2, 8)
		if len(spec.Behavior.ScaleDown.Policies) > 0 && g.chance(0.6) {
			sc.R = max(sc.R, spec.MaxReplicas-int32(g.in(0, 3)))
			for int32(len(g.pods)) < sc.R {
				g.pods = append(g.pods, g.newPod(-3600, true))
			}
			g.base = g.target
		}
		sc.Spec, g.specNow = spec, spec
	}
	g.nano = g.chance(0.12)
	if g.theme == "midway" && g.chance(0.25) {
		sc.Others = []Other{{Name: "api", Selector: pick(g, "app in (api,web)", "tier!=x", "app=web", "app=api"), Replicas: int32(g.in(1, 4)),
			Spec: autoscalingv2.HorizontalPodAutoscalerSpec{ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "api"},
				MaxReplicas: 5, Metrics: []autoscalingv2.MetricSpec{g.metric(pick(g, "extavg", "cpu%", "pods"))}}}}
	}
	g.faultNames = map[string][2]int{}
	np := 0.05
	if g.theme == "multi" || g.theme == "faults" {
		np = 0.4
	}
	for _, l := range [][]string{g.extNames, g.objNames, g.podMets} {
		for _, n := range l {
			g.faultNames[n] = win(np)
		}
	}
	for int32(len(g.pods)) < sc.R {
		g.pods = append(g.pods, g.newPod(-3600, true))
	}
}

// ---- world --------------------------------------------------------------------------

func (g *gen) newPod(now int, old bool) *gpod {
	q := &gpod{born: now, old: old, skew: 1, phase: "Running"}
	if g.perPod {
		q.skew = 0.8 + 0.4*g.r.Float64()
	}
	if old {
		q.pendTo, q.readyAt, q.sampled, q.trans, q.ready = now, now, now, now+defReady, true
		return q
	}
	j := 0
	if g.jitter {
		j = g.in(0, 12)
	}
	q.pendTo = now + g.sched
	q.born = q.pendTo
	q.trans = q.born
	q.readyAt = q.born + g.startup + j
	q.sampled = q.born + g.lag
	return q
}

func (g *gen) load(k int) float64 {
	for _, w := range g.zeroIdle {
		if k >= w[0] && k < w[1] {
			return 0
		}
	}
	x := g.base
	f := float64(k) / float64(g.steps)
	switch g.shape {
	case "ramp":
		x += g.amp * f
	case "rampdown":
		x += g.amp * (1 - f)
	case "step":
		if k >= g.p1 {
			x += g.amp
		}
	case "stepdown":
		if k < g.p1 {
			x += g.amp
		}
	case "spike":
		if k%(g.p2+5) < 3 {
			x += g.amp
		}
	case "sine":
		x += g.amp * (0.5 + 0.5*math.Sin(2*math.Pi*float64(k)/float64(g.p2+6)))
	case "noise":
		x += g.amp * g.r.Float64()
	case "updown":
		x += g.amp * (1 - math.Abs(2*f-1))
	}
	return x
}

func (g *gen) evolve(k, now int, want int) {
	// leave
	var keep []*gpod
	alive := 0
	for _, q := range g.pods {
		if q.del != 0 && now >= q.goneAt {
			continue
		}
		if q.del == 0 && q.phase != "Failed" && q.phase != "Succeeded" {
			alive++
		}
		keep = append(keep, q)
	}
	g.pods = keep
	for i := len(g.pods) - 1; i >= 0 && alive > want; i-- {
		if q := g.pods[i]; q.del == 0 && q.phase != "Failed" && q.phase != "Succeeded" {
			q.del, q.goneAt = max(1, now), now+g.grace
			alive--
		}
	}
	if g.grace == 0 {
		keep = nil
		for _, q := range g.pods {
			if q.del == 0 {
				keep = append(keep, q)
			}
		}
		g.pods = keep
	}
	for ; alive < want; alive++ {
		g.pods = append(g.pods, g.newPod(now, false))
	}
	noReq := false
	for _, q := range g.pods {
		if q.noReq && k%7 == 0 {
			q.noReq = false
		}
		noReq = noReq || q.noReq
		if !q.ready && q.readyAt != 0 && now >= q.readyAt && q.del == 0 {
			q.ready, q.trans = true, q.readyAt
			q.readyAt = 0
		}
		if q.del != 0 || g.chaos == 0 || !g.chance(g.chaos/3) {
			continue
		}
		switch g.in(0, 10) {
		case 0: // flaps
			if q.ready {
				q.ready, q.trans, q.readyAt = false, now, now+g.in(10, 80)
			}
		case 1, 2:
			q.miss = k + g.in(1, 5)
		case 3:
			q.phase = "Failed"
			q.ready, q.trans, q.readyAt = false, now, 0
			q.miss = 1 << 20
		case 4:
			if g.chance(0.5) {
				q.phase = "Succeeded"
				q.ready, q.trans, q.readyAt = false, now, 0
				q.miss = 1 << 20
			}
		case 5:
			if !noReq && g.chance(0.4) {
				q.noReq, noReq = true, true
			}
		case 6:
			q.noCond = !q.noCond
		case 7:
			q.unknown = !q.unknown
		case 8:
			q.noCtr = !q.noCtr
		case 9:
			q.plr = !q.plr
		case 10:
			if g.chance(0.3) {
				q.noStart = true
			}
		}
	}
	// finished pods are cleaned up now and then
	if k%9 == 8 {
		keep = nil
		for _, q := range g.pods {
			if q.phase == "Running" {
				keep = append(keep, q)
			}
		}
		g.pods = keep
	}
}

func (g *gen) groups(k, now int, load float64) []Group {
	n := 0
	for _, q := range g.pods {
		if q.ready && q.del == 0 {
			n++
		}
	}
	share := 0.0
	if n > 0 {
		share = load / float64(n)
	}
	var out []Group
	for _, q := range g.pods {
		x := Group{}
		usage := 0.0
		if q.ready && q.del == 0 {
			usage = min(share*q.skew, g.target*4)
		} else if g.burst {
			usage = g.target * 1.5
		} else {
			usage = g.target * 0.1
		}
		if now < q.pendTo {
			x.Phase = p("Pending")
			x.NoSt = true
			x.Ready = json.RawMessage("false")
			x.Trans = p(q.trans)
			if g.sched == 0 {
				x.NoSt = false
			}
		} else if q.phase != "Running" {
			x.Phase = p(q.phase)
		}
		if q.noStart {
			x.NoSt = true
		}
		if !q.old && !x.NoSt {
			x.Start = p(q.born)
		}
		if x.Phase == nil || *x.Phase != "Pending" {
			switch {
			case q.noCond:
				x.Ready = json.RawMessage("null")
			case q.unknown:
				x.Ready = json.RawMessage(`"Unknown"`)
			case !q.ready:
				x.Ready = json.RawMessage("false")
			}
			if !q.noCond && q.trans != -3600+defReady {
				x.Trans = p(q.trans)
			}
		}
		x.Del = q.del != 0
		if q.noReq {
			x.Ctr = append([]Ctr{}, g.sc.Ctr...)
			switch i := g.r.IntN(len(x.Ctr)); {
			case q.born%3 == 1 && len(x.Ctr) > 1:
				x.Ctr = x.Ctr[1:] // another pod under the same labels
			case q.plr:
			default:
				x.Ctr[i].CPU, x.Ctr[i].Mem = nil, nil
			}
		}
		if q.plr {
			x.Plr = &ResPair{CPU: &Qty{N: g.cpuReq * 2}, Mem: &Qty{S: "400Mi"}}
			if q.noReq {
				x.Plr.CPU = nil
				for i := range x.Ctr {
					x.Ctr[i].CPU = nil
				}
			}
		}
		if (x.Phase == nil || *x.Phase == "Unknown") && q.sampled <= now && k >= q.miss {
			x.Age, x.Win = p(g.age), p(g.win)
			if g.age == defAge {
				x.Age = nil
			}
			if g.win == defWindow {
				x.Win = nil
			}
			cpu := Qty{N: int64(math.Round(usage * g.unitCPU))}
			side := Qty{N: cpu.N / 10}
			if g.nano {
				cpu, side = Qty{S: fmt.Sprintf("%dn", int64(usage*g.unitCPU*1e6))}, Qty{S: fmt.Sprintf("%dn", int64(usage*g.unitCPU*1e5))}
			}
			mem := int64(60e6 + usage/g.target*120e6)
			us := func(c Qty, m int64) Usage {
				u := Usage{QList{&c}}
				if g.useMem {
					u = append(u, QList{&Qty{N: m}})
				}
				return u
			}
			x.U = map[string]Usage{}
			for _, c := range g.sc.Ctr {
				switch {
				case c.Init == "once":
				case c.Name == "app":
					if !q.noCtr || !g.multiCtr {
						x.U[c.Name] = us(cpu, mem)
					}
				default:
					x.U[c.Name] = us(side, 30<<20)
				}
			}
			if len(g.podMets) > 0 {
				x.V = map[string]QList{}
				for _, m := range g.podMets {
					x.V[m] = QList{&Qty{N: int64(math.Round(usage * g.off[m] * 1000))}}
				}
			}
		}
		out = append(out, x)
	}
	return merge(out)
}

// merge joins neighbours that differ in usage only.
func merge(in []Group) []Group {
	var out []Group
	var lastKey string
	key := func(g Group) string {
		g.N = 0
		var names []string
		for c, u := range g.U {
			names = append(names, fmt.Sprint(c, len(u)))
		}
		for c := range g.V {
			names = append(names, c)
		}
		sort.Strings(names)
		g.U, g.V = nil, nil
		b, _ := json.Marshal(g)
		return string(b) + fmt.Sprint(names)
	}
	for _, g := range in {
		k := key(g)
		if len(out) > 0 && k == lastKey {
			o := &out[len(out)-1]
			for c, u := range g.U {
				for i := range u {
					o.U[c][i] = append(o.U[c][i], u[i]...)
				}
			}
			for c, v := range g.V {
				o.V[c] = append(o.V[c], v...)
			}
			o.N++
			continue
		}
		g.N = 1
		out = append(out, g)
		lastKey = k
	}
	for i := range out {
		for _, u := range out[i].U {
			for j := range u {
				u[j] = fold(u[j])
			}
		}
		for c, v := range out[i].V {
			out[i].V[c] = fold(v)
		}
		if out[i].N == 1 {
			out[i].N = 0
		}
	}
	return out
}

func fold(l QList) QList {
	for _, q := range l {
		if *q != *l[0] {
			return l
		}
	}
	return l[:1]
}

func (g *gen) faults(k int) *Faults {
	f := Faults{}
	hit := func(w [2]int) bool { return k >= w[0] && k <= w[1] }
	if hit(g.winRes) {
		f.Res = "the server is currently unable to handle the request (get pods.metrics.k8s.io)"
	}
	if hit(g.winCus) {
		f.Cus = "the server could not find the requested resource"
	}
	if hit(g.winExt) {
		f.Ext = "Internal error occurred: upstream timed out"
	}
	if hit(g.winGet) {
		f.Get = `deployments.apps "web" not found`
	}
	if hit(g.winPut) {
		f.Put = "etcdserver: request timed out"
	}
	if hit(g.winConf) {
		f.Conf = pick(g, 1, 1, 2, 4, 5, 7)
	}
	if hit(g.winStat) {
		f.Stat = "etcdserver: leader changed"
	}
	for n, w := range g.faultNames {
		if !hit(w) {
			continue
		}
		text := "no data for " + n
		if n[0] == 'e' {
			if f.ExtM == nil {
				f.ExtM = map[string]string{}
			}
			f.ExtM[n] = text
		} else {
			if f.CusM == nil {
				f.CusM = map[string]string{}
			}
			f.CusM[n] = text
		}
	}
	b, _ := json.Marshal(f)
	if string(b) == "{}" {
		return nil
	}
	return &f
}

func (g *gen) midway(k int, st *Step) {
	pr := 0.01
	if g.theme == "midway" {
		pr = 0.12
	}
	if g.theme == "zero" {
		pr = 0.025
	}
	if g.now == 0 && k > 3 && g.load(k) > 0 && g.chance(0.12) {
		st.To = p(int32(g.in(1, int(g.specNow.MaxReplicas)))) // someone resumes it
		return
	}
	if k == 0 || !g.chance(pr) {
		return
	}
	if g.deleted {
		st.Crea, g.deleted = true, false
		st.Spec = g.specNow.DeepCopy()
		return
	}
	s := g.specNow.DeepCopy()
	lo := int32(1)
	if s.MinReplicas != nil {
		lo = max(1, *s.MinReplicas)
	}
	n := g.in(0, 11)
	if g.theme == "zero" {
		n = pick(g, 0, 4, 5, 6, 6, 1)
	}
	switch n {
	case 0:
		s.MaxReplicas = lo + int32(g.in(0, 20))
	case 1:
		s.MinReplicas = p(int32(g.in(1, int(min(8, s.MaxReplicas)))))
	case 2:
		m := &s.Metrics[g.r.IntN(len(s.Metrics))]
		f := 0.5 + g.r.Float64()
		scale := func(q *resource.Quantity) *resource.Quantity {
			if q == nil {
				return nil
			}
			return resource.NewMilliQuantity(max(1, int64(float64(q.MilliValue())*f)), q.Format)
		}
		var t *autoscalingv2.MetricTarget
		switch {
		case m.Resource != nil:
			t = &m.Resource.Target
		case m.ContainerResource != nil:
			t = &m.ContainerResource.Target
		case m.Pods != nil:
			t = &m.Pods.Target
		case m.Object != nil:
			t = &m.Object.Target
		default:
			t = &m.External.Target
		}
		if t.AverageUtilization != nil {
			t.AverageUtilization = p(max(1, int32(float64(*t.AverageUtilization)*f)))
		}
		t.AverageValue, t.Value = scale(t.AverageValue), scale(t.Value)
	case 3:
		if s.Behavior == nil || g.chance(0.7) {
			s.Behavior = g.behavior()
		} else {
			s.Behavior = nil
		}
	case 4, 5:
		st.To = p(int32(g.in(1, int(g.specNow.MaxReplicas)+3)))
		s = nil
	case 6:
		st.To = p[int32](0)
		s = nil
	case 7:
		st.Sel = p(pick(g, "", "app=web", "app in (web", "app in (web,api)", "app=none"))
		s = nil
	case 8:
		if len(s.Metrics) > 1 {
			s.Metrics = s.Metrics[:len(s.Metrics)-1]
		} else {
			s = nil
		}
	case 9:
		if g.chance(0.6) {
			st.Del, g.deleted = true, true
		}
		s = nil
	case 10:
		// same meaning, other notation: not a change
		for i := range s.Metrics {
			if m := s.Metrics[i].External; m != nil && m.Target.AverageValue != nil {
				m.Target.AverageValue = qp(m.Target.AverageValue.AsDec().String())
			}
		}
	case 11:
		st.To = p(int32(g.in(1, int(g.specNow.MaxReplicas)+3)))
	}
	if s != nil {
		st.Spec, g.specNow = s, *s
		if g.chance(0.4) {
			st.Dt = p(float64(g.in(1, g.period-1)))
		}
	}
}

func (g *gen) step(k int, v view) *Step {
	if k >= g.steps {
		return nil
	}
	st := &Step{}
	now := k*g.period - 1
	if k == 0 {
		now = 0
	}
	g.now = int(v.Replicas())
	g.midway(k, st)
	want := int(v.Replicas())
	if st.To != nil {
		want = int(*st.To)
	}
	g.evolve(k, now, min(want, 120))
	load := g.load(k)
	gs := g.groups(k, now, load)
	if b, _ := json.Marshal(gs); string(b) != g.lastPods {
		g.lastPods = string(b)
		if gs == nil {
			gs = []Group{}
		}
		st.Pods = &gs
	}
	if len(g.extNames) > 0 {
		m := map[string][]Qty{}
		for _, n := range g.extNames {
			total := int64(math.Round(load * g.off[n] * 1000))
			parts := g.parts[n]
			for i := 0; i < parts; i++ {
				x := total / int64(parts-i)
				total -= x
				m[n] = append(m[n], Qty{N: x})
			}
		}
		if b, _ := json.Marshal(m); string(b) != g.lastExt {
			g.lastExt, st.Ext = string(b), m
		}
	}
	if len(g.objNames) > 0 {
		m := map[string]Qty{}
		for _, n := range g.objNames {
			m[n] = Qty{N: int64(math.Round(load * g.off[n] * 1000))}
		}
		if b, _ := json.Marshal(m); string(b) != g.lastObj {
			g.lastObj, st.Obj = string(b), m
		}
	}
	if g.pinSr {
		st.Sr = p(int32(len(g.pods)))
	}
	if k > 0 {
		st.F = g.faults(k)
	}
	if st.Sr != nil && k > 0 && g.sc.Steps != nil {
		// only when changed
		for i := len(g.sc.Steps) - 1; i >= 0; i-- {
			if o := g.sc.Steps[i].Sr; o != nil {
				if *o == *st.Sr {
					st.Sr = nil
				}
				break
			}
		}
	}
	g.sc.Steps = append(g.sc.Steps, *st)
	return st
}

// Generate makes scenario number n of a seed.
func Generate(t *testing.T, seed uint64, n int, theme string) (*Scenario, *Out) {
	if theme == "" {
		theme = pickTheme(n)
	}
	for try := uint64(0); ; try++ {
		g := &gen{r: rand.New(rand.NewPCG(seed, uint64(n)<<8|try)), theme: theme,
			sc: &Scenario{Name: fmt.Sprintf("%s-%d-%d", theme, seed, n), Theme: theme}, off: map[string]float64{}, parts: map[string]int{}}
		g.setup()
		out := Run(t, g.sc, g.step)
		bad := false
		for _, d := range out.Def {
			bad = bad || len(d.Invalid) > 0
		}
		if !bad {
			return g.sc, out
		}
	}
}
