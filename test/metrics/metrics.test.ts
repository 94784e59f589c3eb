import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { exposition } from "../../src/metrics/exposition.ts"
import { METRICS } from "../../src/metrics/metrics.ts"
import { readExposition } from "../support/exposition.ts"

/** Names that the first user fixed: a collector derives types from the name. */
const SPECIFIED: ReadonlyArray<{ readonly name: string; readonly kind: string; readonly label?: string }> = [
  { name: "svcd_rpc_requests_total", kind: "counter", label: "method" },
  { name: "svcd_rpc_request_duration_seconds", kind: "histogram", label: "method" },
  { name: "svcd_rpc_duration_seconds", kind: "histogram", label: "method" },
  { name: "svcd_rpc_errors_total", kind: "counter", label: "method" },
  { name: "svcd_errors_total", kind: "counter", label: "type" },
  { name: "svcd_blockchain_height", kind: "gauge" },
  { name: "svcd_blockchain_best_hash", kind: "gauge" },
  { name: "svcd_blockchain_difficulty", kind: "gauge" },
  { name: "svcd_network_peers_connected", kind: "gauge" },
  { name: "svcd_network_bytes_received_total", kind: "counter" },
  { name: "svcd_network_bytes_sent_total", kind: "counter" },
  { name: "svcd_mempool_transactions", kind: "gauge" },
  { name: "svcd_mempool_size_bytes", kind: "gauge" },
  { name: "svcd_namedb_names_count", kind: "gauge" },
  { name: "svcd_namedb_size_bytes", kind: "gauge" },
  { name: "svcd_namedb_read_latency_seconds", kind: "histogram" },
  { name: "svcd_namedb_write_latency_seconds", kind: "histogram" }
]

/** The categories of docs/metrics.md. */
const CATEGORIES = [
  "block processing",
  "name operations",
  "DNS",
  "Electrum",
  "network",
  "transactions",
  "validation errors",
  "database performance",
  "RPC performance",
  "error breakdown",
  "runtime"
]

const byName = new Map(METRICS.map((family) => [family.name, family]))

describe("metrics", () => {
  it("are 74, each once, in every category", () => {
    assert.strictEqual(METRICS.length, 74)
    assert.strictEqual(byName.size, 74)
    assert.deepStrictEqual([...new Set(METRICS.map(({ category }) => category))], CATEGORIES)
  })

  it.each(SPECIFIED)("include the specified $name as a $kind", ({ kind, label, name }) => {
    const family = byName.get(name)
    assert.strictEqual(family?.kind, kind)
    assert.strictEqual(family?.label, label)
  })

  it.each(METRICS)("follow Prometheus' rules in $name: prefix, unit and total", ({ kind, name }) => {
    assert.match(name, /^svcd_[a-z]+(_[a-z]+)+$/)
    assert.strictEqual(name.endsWith("_total"), kind === "counter")
    if (kind === "histogram") assert.match(name, /_(seconds|bytes)$/)
  })

  it.each(METRICS)("describe $name in one sentence", ({ help }) => {
    assert.match(help, /^[A-Z1].{15,}\.$/)
    assert.notInclude(help, "|", "is in a table of the documents")
  })

  it.each(METRICS.filter(({ buckets }) => buckets !== undefined))("have ascending buckets in $name", ({ buckets }) => {
    const bounds = buckets ?? []
    assert.isAbove(bounds.length, 5)
    assert.deepStrictEqual(bounds, [...new Set(bounds)].sort((a, b) => a - b))
  })

  it.effect("are all exported from the start, with every value of a closed label", () =>
    Effect.gen(function*() {
      const families = readExposition(yield* exposition(METRICS))
      assert.deepStrictEqual(families.map(({ name }) => name), METRICS.map(({ name }) => name))
      for (const { label, name, values } of METRICS) {
        if (label === undefined || values === undefined) continue
        const shown = families.find((family) => family.name === name)?.samples.map(({ labels }) => labels[label])
        assert.deepStrictEqual(shown, [...values].sort(), name)
      }
    }))
})
