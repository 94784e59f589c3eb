import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { BlockUnavailable } from "../../../src/chain/errors.ts"
import { Block } from "../../../src/protocol/block.ts"
import { displayHash, equal } from "../../../src/protocol/bytes.ts"
import { makeTransaction } from "../../../src/protocol/transaction.ts"
import { layer } from "../../support/layer.ts"
import { MethodNode, methodNode } from "../../support/methodNode.ts"
import { assertFine } from "../assertPage.ts"
import { get, type Page, pagesOf, text } from "../pages.ts"

/** The pages of blocks and transactions. */

/** The links of a page to other pages, as targets. */
const linksOf = ({ body }: Page): ReadonlyArray<string> =>
  [...body.matchAll(/ href="\.(\/(?:block|tx|address)\/[^"#]*)"/g)].map(([, link = ""]) =>
    link.replaceAll("&amp;", "&")
  )

/** Of an update, by what it keeps. */
const wordOf = (
  kept: { readonly value: boolean; readonly address: boolean },
  { value }: { readonly value: Uint8Array }
): string => {
  if (!kept.address) return kept.value ? "transferred" : "transferred, value changed"
  return kept.value ? "renewed" : value.length === 0 ? "value removed" : "value changed"
}

layer(methodNode())("on a chain full of names", (it) => {
  it.effect("blocks, their transactions and their addresses have pages, and every link leads to one", () =>
    Effect.gen(function*() {
      const handler = yield* pagesOf()
      const seen = new Set<string>()
      for (const target of ["/block/0", "/block/600", "/block/589", "/block/433"]) {
        const block = yield* get(handler, target)
        assertFine(block)
        for (const link of linksOf(block)) seen.add(link)
      }
      for (const link of [...seen].filter((each) => each.startsWith("/tx/"))) {
        const page = yield* get(handler, link)
        assertFine(page)
        assert.include(page.body, "confirmed")
        for (const found of linksOf(page)) if (!found.startsWith("/tx/")) seen.add(found)
      }
      for (const link of [...seen].filter((each) => !each.startsWith("/tx/"))) assertFine(yield* get(handler, link))
      assert.isAbove(seen.size, 40)
    }))

  it.effect("a block shows its transactions, their operations and their fees", () =>
    Effect.gen(function*() {
      const page = yield* get(yield* pagesOf(), "/block/589")
      assert.match(page.body, /<dt>Transactions<\/dt><dd><b>7<\/b>/)
      assert.match(
        page.body,
        /(renewed|value changed|value removed|transferred|registered)[a-z, ]*<\/span> <a href="\?name=d%2Fembermapleb831">/
      )
      assert.include(page.body, "commits to a name")
      assert.include(page.body, ">0.00001406</td>")
      assert.match(
        page.body,
        /<dt>Time<\/dt><dd><b><time [^>]*>[^<]*<\/time><\/b><span>2023-11-\d\d \d\d:\d\d UTC</
      )
      assert.include(page.body, "<base href=\"../\">")
      assert.include(page.body, "href=\"./block/589#main\"")
      const { chain } = yield* MethodNode
      const info = (yield* chain.headerAt(589)) ?? assert.fail()
      assert.include((yield* get(yield* pagesOf(), `/block/${displayHash(info.hash)}`)).body, "12 confirmations")
    }))

  it.effect("a block and a transaction say of an operation what the history of the name says", () =>
    Effect.gen(function*() {
      const handler = yield* pagesOf()
      const { names } = yield* MethodNode
      const seen = new Set<string>()
      for (let height = 560; height <= 600; height++) {
        const { body } = yield* get(handler, `/block/${height}`)
        const rows = body.matchAll(
          /href="\.\/(tx\/[0-9a-f]+\?block=\d+)"(?:(?!<\/tr>).)*?badge good">([^<]*)<\/span> <a href="\?name=([^"]*)">/gs
        )
        for (const [, link = "", word = "", name = ""] of rows) {
          const bytes = text(decodeURIComponent(name))
          const history = yield* names.history(bytes)
          const at = history.findIndex((entry) => entry.height === height && link.includes(displayHash(entry.txid)))
          const entry = history[at] ?? assert.fail(`${name} in block ${height}`)
          const before = history[at - 1]
          const expected = before === undefined
            ? "registered"
            : entry.op === "name_firstupdate"
            ? "registered again"
            : wordOf({ value: equal(entry.value, before.value), address: equal(entry.address, before.address) }, entry)
          assert.strictEqual(word, expected, `${name} in block ${height}`)
          if (!seen.has(word)) {
            assert.include(
              (yield* get(handler, `/${link}`)).body,
              `<span class="badge good">${word}</span> <a href="?name=${name}">`
            )
          }
          seen.add(word)
        }
      }
      assert.includeMembers([...seen], ["registered", "transferred, value changed"])
    }))

  it.effect("a transaction shows what it spends, and what became of its outputs", () =>
    Effect.gen(function*() {
      const handler = yield* pagesOf()
      const { names } = yield* MethodNode
      const { txid } = yield* names.resolve(text("d/embermapleb831"))
      // Without the height: its name leads to its block.
      const page = yield* get(handler, `/tx/${displayHash(txid)}`)
      assert.match(page.body, /<dt>Fee<\/dt><dd><b>0\.00001406 NMC<\/b><span>0\.00004394 NMC per kvB/)
      assert.match(page.body, /cbca3251430a….{0,10}:0/)
      assert.include(page.body, "<span class=\"badge good\">unspent</span>")
      const coinbase = linksOf(yield* get(handler, "/block/1")).find((link) => link.startsWith("/tx/"))
      assert.include((yield* get(handler, coinbase ?? assert.fail())).body, "New coins and the fees of the block")
    }))

  it.effect("what the node does not have is a sentence", () =>
    Effect.gen(function*() {
      const { chain } = yield* MethodNode
      const without = (pruned: boolean) =>
        pagesOf({
          chain: {
            ...chain,
            block: (hash) => Effect.fail(new BlockUnavailable({ hash: displayHash(hash), height: 589, pruned }))
          }
        })
      const pruned = yield* get(yield* without(true), "/block/589")
      assertFine(pruned)
      assert.include(pruned.body, "The node pruned this block")
      assert.include(pruned.body, "Merkle root")
      assert.include((yield* get(yield* without(false), "/block/589")).body, "started from a snapshot")
      const spending = `/tx/${"ab".repeat(32)}?block=589`
      const transaction = yield* get(yield* without(true), spending)
      assertFine(transaction)
      assert.include(
        transaction.body,
        "The transaction is in <a href=\"./block/589\">block 589</a>, which the node has pruned."
      )

      const withoutUndo = yield* pagesOf({ chain: { ...chain, undo: () => Effect.succeed(undefined) } })
      const block = yield* get(withoutUndo, "/block/589")
      assertFine(block)
      assert.include(block.body, "Fees are not known")
      const first = linksOf(block).find((link) => link.includes("?block=589") && link !== spending) ?? assert.fail()
      assertFine(yield* get(withoutUndo, first))

      const handler = yield* pagesOf()
      const unknown = yield* get(handler, `/tx/${"ab".repeat(32)}`)
      assertFine(unknown, 404)
      assert.include(unknown.body, "-txindex")
      assertFine(yield* get(handler, "/block/601"), 404)
      assertFine(yield* get(handler, `/block/${"ab".repeat(32)}`), 404)
      assertFine(yield* get(handler, "/block/589?page=2"), 404)
      assertFine(yield* get(handler, "/address/nothing"), 404)
      assertFine(yield* get(handler, "/address/%3Cscript%3E"), 404)
      assertFine(yield* get(handler, "/block/x"), 400)
      assertFine(yield* get(handler, "/names?after=x"), 400)
    }))

  it.effect("the largest blocks and transactions are paged", () =>
    Effect.gen(function*() {
      const { chain } = yield* MethodNode
      const info = (yield* chain.headerAt(589)) ?? assert.fail()
      const { transactions } = yield* chain.block(info.hash)
      const small = transactions[1] ?? assert.fail()
      const wide = makeTransaction({
        version: 1,
        inputs: small.inputs,
        outputs: Array.from({ length: 10_000 }, () => small.outputs[0] ?? assert.fail()),
        lockTime: 0
      })
      const big = new Block({
        header: info.header,
        auxpow: undefined,
        bytes: new Uint8Array(4_000_000),
        transactions: [...Array.from({ length: 16_000 }, () => small), wide]
      })
      const handler = yield* pagesOf({ chain: { ...chain, block: () => Effect.succeed(big) } })
      const last = yield* get(handler, "/block/589?page=321")
      assertFine(last)
      assert.include(last.body, "Page 321 of 321")
      assert.include(last.body, displayHash(wide.txid))
      assertFine(yield* get(handler, "/block/589?page=322"), 404)
      const outputs = yield* get(handler, `/tx/${displayHash(wide.txid)}?block=589&page=250`)
      assertFine(outputs)
      assert.include(outputs.body, "<th scope=\"row\">9999</th>")
      assert.include(outputs.body, "No more inputs on page 250.")
      for (const { body } of [last, outputs, yield* get(handler, "/block/589?page=2")]) {
        assert.isBelow(body.length, 60_000)
      }
    }))
})

it.effect("the indexes tell where every transaction is, and which one spends an output", () =>
  Effect.gen(function*() {
    const handler = yield* pagesOf()
    const block = yield* get(handler, "/block/589")
    const spent = linksOf(block).find((link) => link.startsWith("/tx/")) ?? assert.fail()
    assertFine(yield* get(handler, spent.split("?")[0] ?? ""))
    const unknown = yield* get(handler, `/tx/${"ab".repeat(32)}`)
    assert.include(unknown.body, "No transaction of the best chain or of the mempool has this txid.")
    const old = linksOf(yield* get(handler, "/block/1")).find((link) => link.startsWith("/tx/")) ?? assert.fail()
    assert.match(
      (yield* get(handler, old)).body,
      /spent by<\/span> <a class="hash" href="\.\/tx\/[0-9a-f]{64}\?block=\d+"/
    )
  }).pipe(Effect.provide(methodNode({ txIndex: true, indexes: true }))))
