import { describe, expect, it } from "@effect/vitest"
import { BASELINE, type Figures, judge, latency, LIMITS } from "../../scripts/attack/figures.ts"
import { readOptions } from "../../scripts/attack/options.ts"
import { line } from "../../scripts/attack/report.ts"

const held: Figures = {
  attack: "inv from one address",
  seconds: 8,
  ending: undefined,
  complaints: [],
  ping: latency([1, 2, 3]),
  nameShow: latency([1, 2, 3]),
  newCaller: latency([1, 2, 3]),
  cpuSeconds: 1,
  foreignCpuSeconds: 0,
  peakMB: 200,
  connections: 95,
  sentMB: 100
}

/** Answers of which two in a hundred took this long. */
const slow = (milliseconds: number) => latency([...Array.from({ length: 98 }, () => 1), milliseconds, milliseconds])

describe("the figures of an attack", () => {
  it("use the nearest-rank quantile", () => {
    const hundred = Array.from({ length: 100 }, (_, i) => 100 - i)
    expect(latency(hundred)).toEqual({ count: 100, p50: 50, p99: 99, worst: 100 })
    expect(latency([7])).toEqual({ count: 1, p50: 7, p99: 7, worst: 7 })
    expect(latency([])).toEqual({ count: 0, p50: 0, p99: 0, worst: 0 })
  })

  it("pass where the node is within all limits", () => {
    expect(judge(held, LIMITS)).toEqual([])
    expect(judge({ ...held, ping: slow(249), nameShow: slow(49) }, LIMITS)).toEqual([])
    expect(judge({ ...held, attack: BASELINE, connections: 0 }, LIMITS)).toEqual([])
    expect(line(held, LIMITS)).toContain("| held |")
  })

  it.each<readonly [string, Partial<Figures>, string]>([
    ["the node died", { ending: "signal SIGABRT" }, "the node ended: signal SIGABRT"],
    ["an honest peer was thrown out", { complaints: ["1 x a peer was disconnected"] }, "1 x a peer was disconnected"],
    ["pings waited", { ping: slow(250) }, "ping p99 250 ms, limit 250 ms"],
    ["callers waited", { nameShow: slow(50) }, "name_show p99 50 ms, limit 50 ms"],
    ["no ping was answered", { ping: latency([]) }, "ping was not measured"],
    ["no call was answered", { nameShow: latency([]) }, "name_show was not measured"],
    ["no attacker came through", { connections: 0 }, "the attack did not reach the node"]
  ])("fail where %s", (_, changed, fault) => {
    const figures = { ...held, ...changed }
    expect(judge(figures, LIMITS)).toEqual([fault])
    expect(line(figures, LIMITS)).toContain(`| FAILED: ${fault} |`)
  })

  it("have wider limits where a slow machine needs them", () => {
    const { limits } = readOptions(["--short", "--ping", "2000", "--nameshow", "1000"])
    expect(judge({ ...held, ping: slow(1_999), nameShow: slow(999) }, limits)).toEqual([])
    expect(judge({ ...held, ping: slow(2_000) }, limits)).toHaveLength(1)
    expect(() => readOptions(["--ping", "soon"])).toThrow("--ping takes a number above 0, not \"soon\"")
  })
})
