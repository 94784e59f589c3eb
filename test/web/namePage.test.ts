import { assert, it } from "@effect/vitest"
import { paramsOf } from "../../src/consensus/params.ts"
import { mainnet } from "../../src/protocol/networks.ts"
import { nameView } from "../../src/web/namePage.ts"
import { text } from "./pages.ts"

it("a history tells scripts without an address apart", () => {
  const operation = (address: string, height: number) => ({
    name: text("d/x"),
    value: text("{}"),
    op: "name_update" as const,
    address: text(address),
    height,
    txid: text("t".repeat(32)),
    vout: 0,
    amount: 1_000_000,
    rand: undefined
  })
  const deeds = ["one", "other", "other"].map((script, at) => {
    const [entry, before] = [operation(script, 5), operation(["one", "one", "other"][at] ?? "", 4)]
    const { text: page } = nameView({
      ...{ now: 0, tipHeight: 5, params: paramsOf(mainnet), syncing: false, pending: [] },
      ...{ record: entry, history: [{ entry, time: 0, before }], total: 2, page: 1, pages: 1 }
    }, { full: true, desk: false })
    return /class="deed"><a [^>]*>([^<]*)</.exec(page)?.[1]
  })
  assert.deepStrictEqual(deeds, ["renewed", "transferred", "renewed"])
})
