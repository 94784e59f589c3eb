import { assert, describe, it } from "@effect/vitest"
import { healthAnswer, type HealthQuestion, type HealthReport } from "../../src/http/health.ts"
import { HEALTHY } from "../support/healthy.ts"

const report = (changes: Partial<HealthReport>): HealthReport => ({
  ...HEALTHY,
  phase: undefined,
  proof: undefined,
  blockHeight: 7,
  names: undefined,
  peers: 2,
  ...changes
})
const DOUBT = { what: "names.db", reason: "a page has changed; the file is rebuilt" }

describe("healthAnswer", () => {
  it.each<readonly [HealthQuestion, Partial<HealthReport>, number, string]>([
    ["health", {}, 200, "{\"status\":\"healthy\",\"network\":\"regtest\",\"block_height\":7,\"peers\":2}"],
    [
      "ready",
      {},
      200,
      "{\"status\":\"ready\",\"network\":\"regtest\",\"block_height\":7,\"peers\":2,\"syncing\":false}"
    ],
    [
      "health",
      { syncing: true },
      200,
      "{\"status\":\"healthy\",\"network\":\"regtest\",\"block_height\":7,\"peers\":2,\"syncing\":true}"
    ],
    [
      "ready",
      { syncing: true },
      503,
      "{\"status\":\"syncing\",\"network\":\"regtest\",\"block_height\":7,\"peers\":2,\"syncing\":true}"
    ],
    [
      "health",
      { initializing: true, blockHeight: 0, peers: 0 },
      503,
      "{\"status\":\"initializing\",\"network\":\"regtest\",\"block_height\":0,\"peers\":0,\"syncing\":true}"
    ],
    [
      "ready",
      { initializing: true, syncing: true },
      503,
      "{\"status\":\"initializing\",\"network\":\"regtest\",\"block_height\":7,\"peers\":2,\"syncing\":true}"
    ],
    [
      "health",
      { doubts: [DOUBT] },
      200,
      `{"status":"healthy","network":"regtest","block_height":7,"peers":2,"doubts":[${JSON.stringify(DOUBT)}]}`
    ],
    [
      "ready",
      { doubts: [DOUBT] },
      503,
      `{"status":"repairing","network":"regtest","block_height":7,"peers":2,"syncing":false,"doubts":[${
        JSON.stringify(DOUBT)
      }]}`
    ],
    [
      "ready",
      { notices: [DOUBT] },
      200,
      `{"status":"ready","network":"regtest","block_height":7,"peers":2,"syncing":false,"notices":[${
        JSON.stringify(DOUBT)
      }]}`
    ]
  ])("%s with %j is %d (reference/rpc.md 1.12)", (question, changes, status, body) => {
    assert.deepStrictEqual(healthAnswer(question, report(changes)), { status, body })
  })

  const WINDOW: Partial<HealthReport> = { light: true, blockHeight: 0 }
  const known = { height: 9, complete: true }
  const unknown = { height: 9, complete: false }
  const everyName = { proof: "full", names: known } as const
  /** Each state of a node, with the status words of `/health`, `/ready` and `/ready?names`; a dash is a 503. */
  it.each<readonly [string, Partial<HealthReport>, string]>([
    ["it starts", { initializing: true, syncing: true }, "-initializing -initializing -initializing"],
    ["blocks are missing", { syncing: true, names: unknown }, "healthy -syncing -syncing"],
    ["a window fills", { ...WINDOW, syncing: true, names: unknown }, "healthy -syncing -syncing"],
    ["a window answers", { ...WINDOW, syncing: true, proof: "work", names: known }, "healthy -syncing ready"],
    ["a window is all that is wanted", { ...WINDOW, proof: "signatures", names: known }, "healthy -light ready"],
    [
      "the chain is there, the window still answers",
      { ...WINDOW, ...everyName, syncing: true },
      "healthy -syncing ready"
    ],
    ["the chain is there", everyName, "healthy ready ready"],
    ["a store is damaged", { doubts: [DOUBT], names: unknown }, "healthy -repairing -repairing"],
    [
      "a store is damaged that the window does not need",
      { ...WINDOW, syncing: true, doubts: [DOUBT], names: known },
      "healthy -syncing ready"
    ]
  ])("while %s: %j is %s", (_, changes, expected) => {
    const questions: ReadonlyArray<HealthQuestion> = ["health", "ready", "names"]
    const words = questions.map((question) => {
      const { body, status } = healthAnswer(question, report(changes))
      return `${status === 200 ? "" : "-"}${JSON.parse(body).status}`
    })
    assert.strictEqual(words.join(" "), expected)
  })

  it("tells the height of the chain and that of the names apart", () => {
    const { body } = healthAnswer(
      "names",
      report({ ...WINDOW, syncing: true, phase: "blocks", proof: "work", names: known })
    )
    assert.deepStrictEqual(JSON.parse(body), {
      status: "ready",
      network: "regtest",
      block_height: 0,
      peers: 2,
      syncing: true,
      phase: "blocks",
      proof: "work",
      names_height: 9
    })
  })
})
