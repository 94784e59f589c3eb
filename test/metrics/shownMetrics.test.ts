import { assert, describe, it } from "@effect/vitest"
import { NEEDY_STATES, ownNames } from "../../src/metrics/alertMetrics.ts"
import { dnsListeners } from "../../src/metrics/dnsMetrics.ts"
import { lightActive, lightHandovers } from "../../src/metrics/lightMetrics.ts"
import { indexHeight, METRICS } from "../../src/metrics/metrics.ts"
import { type MetricPart, metricPart, partsInUse, shownMetrics } from "../../src/metrics/shownMetrics.ts"
import { WEBHOOK_STATES, webhooks } from "../../src/metrics/webhookMetrics.ts"

/** The 32 that are part of the interface: a change here breaks dashboards and alerts of others. */
const ALWAYS = `
  svcd_blockchain_height svcd_blockchain_best_hash svcd_blockchain_difficulty svcd_blockchain_headers_height
  svcd_blockchain_syncing svcd_blockchain_tip_timestamp_seconds svcd_blocks_total svcd_block_connect_duration_seconds
  svcd_namedb_names_count svcd_name_operations_total svcd_network_peers_connected svcd_network_bytes_received_total
  svcd_network_bytes_sent_total svcd_network_misbehaving_peers_total svcd_mempool_transactions svcd_mempool_size_bytes
  svcd_transactions_total svcd_validation_errors_total svcd_namedb_size_bytes svcd_namedb_read_latency_seconds
  svcd_namedb_write_latency_seconds svcd_chainstate_flush_duration_seconds svcd_rpc_requests_total
  svcd_rpc_request_duration_seconds svcd_rpc_duration_seconds svcd_rpc_errors_total svcd_rpc_requests_in_flight
  svcd_rpc_refused_total svcd_errors_total svcd_process_resident_memory_bytes svcd_process_start_time_seconds
  svcd_event_loop_delay_seconds
`.trim().split(/\s+/)

const shown = (...parts: ReadonlyArray<MetricPart>): ReadonlyArray<string> =>
  shownMetrics({ detail: false, parts: new Set(parts) }).map(({ name }) => name)

describe("shownMetrics", () => {
  it("is exactly the 32 of the interface for a plain node", () => {
    assert.strictEqual(ALWAYS.length, 32)
    assert.deepStrictEqual(shown(), ALWAYS)
  })

  it("is all of them with -metricsdetail", () => {
    assert.deepStrictEqual(shownMetrics({ detail: true, parts: new Set() }), METRICS)
  })

  it.each([["alerts", 4], ["indexes", 1], ["light", 6], ["webhooks", 3], ["detail", 7], ["dns", 13]] as const)(
    "adds those of %s, which are %d",
    (part, count) => {
      const added = shown(part).filter((name) => !ALWAYS.includes(name))
      assert.deepStrictEqual(shown(part).filter((name) => ALWAYS.includes(name)), ALWAYS)
      assert.lengthOf(added, count)
      const families = METRICS.filter(({ name }) => added.includes(name))
      assert.deepStrictEqual([...new Set(families.map(metricPart))], [part])
    }
  )
})

/** Other tests of the process record too: a part that a counter has shown stays. */
describe("partsInUse", () => {
  it("has notices where the operator asked for them, and never the detail", () => {
    // Other tests in the same process may have left names in danger.
    for (const state of NEEDY_STATES) ownNames.of(state).set(0)
    assert.isTrue(partsInUse(true).has("alerts"))
    assert.isFalse(partsInUse(false).has("alerts"))
    assert.isFalse(partsInUse(true).has("detail"))
    ownNames.of("locked").set(1)
    assert.isTrue(partsInUse(false).has("alerts"))
    ownNames.of("locked").set(0)
    ownNames.of("renews").set(1)
    assert.isFalse(partsInUse(false).has("alerts"))
    ownNames.of("renews").set(0)
  })

  it("has DNS while the node answers it", () => {
    dnsListeners.set(0)
    assert.isFalse(partsInUse(false).has("dns"))
    dnsListeners.set(1)
    assert.isTrue(partsInUse(false).has("dns"))
    dnsListeners.set(0)
  })

  it("has indexes once one has a height", () => {
    indexHeight.of("txindex").set(0)
    assert.isTrue(partsInUse(false).has("indexes"))
  })

  it("has webhooks while there is one", () => {
    for (const state of WEBHOOK_STATES) webhooks.of(state).set(0)
    assert.isFalse(partsInUse(false).has("webhooks"))
    webhooks.of("dead").set(1)
    assert.isTrue(partsInUse(false).has("webhooks"))
    webhooks.of("dead").set(0)
  })

  it("has a light start from its window on, even after the handover", () => {
    const before = partsInUse(false).has("light")
    lightActive.set(1)
    assert.isTrue(partsInUse(false).has("light"))
    lightActive.set(0)
    assert.strictEqual(partsInUse(false).has("light"), before)
    lightHandovers.of("equal").increase()
    assert.isTrue(partsInUse(false).has("light"))
  })
})
