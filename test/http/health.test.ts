import { assert, describe, it } from "@effect/vitest"
import { healthAnswer, type HealthPath, type HealthReport } from "../../src/http/health.ts"

const report = (changes: Partial<HealthReport>): HealthReport => ({
  initializing: false,
  syncing: false,
  phase: undefined,
  proof: undefined,
  blockHeight: 7,
  peers: 2,
  doubts: [],
  notices: [],
  ...changes
})

const DOUBT = { what: "names.db", reason: "a page has changed; the file is rebuilt" }

describe("healthAnswer", () => {
  it.each<readonly [HealthPath, Partial<HealthReport>, number, string]>([
    ["/health", {}, 200, "{\"status\":\"healthy\",\"block_height\":7,\"peers\":2}"],
    ["/ready", {}, 200, "{\"status\":\"ready\",\"block_height\":7,\"peers\":2,\"syncing\":false}"],
    ["/health", { syncing: true }, 200, "{\"status\":\"healthy\",\"block_height\":7,\"peers\":2,\"syncing\":true}"],
    ["/ready", { syncing: true }, 503, "{\"status\":\"syncing\",\"block_height\":7,\"peers\":2,\"syncing\":true}"],
    [
      "/health",
      { initializing: true, blockHeight: 0, peers: 0 },
      503,
      "{\"status\":\"initializing\",\"block_height\":0,\"peers\":0,\"syncing\":true}"
    ],
    [
      "/ready",
      { initializing: true, syncing: true },
      503,
      "{\"status\":\"initializing\",\"block_height\":7,\"peers\":2,\"syncing\":true}"
    ],
    [
      "/ready",
      { phase: "signatures", proof: "work" },
      200,
      "{\"status\":\"ready\",\"block_height\":7,\"peers\":2,\"syncing\":false,\"phase\":\"signatures\",\"proof\":\"work\"}"
    ],
    [
      "/health",
      { doubts: [DOUBT] },
      200,
      `{"status":"healthy","block_height":7,"peers":2,"doubts":[${JSON.stringify(DOUBT)}]}`
    ],
    [
      "/ready",
      { doubts: [DOUBT] },
      503,
      `{"status":"repairing","block_height":7,"peers":2,"syncing":false,"doubts":[${JSON.stringify(DOUBT)}]}`
    ],
    [
      "/ready",
      { notices: [DOUBT] },
      200,
      `{"status":"ready","block_height":7,"peers":2,"syncing":false,"notices":[${JSON.stringify(DOUBT)}]}`
    ]
  ])("%s with %j is %d (reference/rpc.md 1.12)", (path, changes, status, body) => {
    assert.deepStrictEqual(healthAnswer(path, report(changes)), { status, body })
  })
})
