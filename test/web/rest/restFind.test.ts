import { assert } from "@effect/vitest"
import { Effect, Layer, TestClock } from "effect"
import { SyncStatus } from "../../../src/chain/SyncStatus.ts"
import { pageRequest } from "../../../src/http/Pages.ts"
import { NameDb } from "../../../src/names/NameDb.ts"
import { AnswerOptions } from "../../../src/rpc/AnswerOptions.ts"
import * as DataHealth from "../../../src/storage/DataHealth.ts"
import { FIND_PATH, restFind } from "../../../src/web/rest/restFind.ts"
import { servicesOf } from "../../support/chain.ts"
import { eventually } from "../../support/eventually.ts"
import { layer } from "../../support/layer.ts"
import { MethodNode, methodNode } from "../../support/methodNode.ts"
import { wholeAnswers } from "../../support/wholeAnswers.ts"

const OPTIONS = {
  nameEncoding: "ascii",
  valueEncoding: "hex",
  allowExpired: false,
  nameHistory: true,
  nameHashIndex: false
} as const

const handler = Effect.gen(function*() {
  const node = yield* MethodNode
  return yield* restFind.pipe(
    Effect.provide(Layer.provideMerge(wholeAnswers, DataHealth.layer)),
    Effect.provideService(NameDb, node.names),
    Effect.provide(servicesOf(node.chain)),
    Effect.provideService(SyncStatus, { ...node.status, syncing: Effect.succeed(false) }),
    Effect.provideService(AnswerOptions, OPTIONS)
  )
})

layer(methodNode())("GET /rest/names.json", (it) => {
  it.effect("returns what name_find returns, page by page", () =>
    Effect.gen(function*() {
      const rest = yield* handler
      const { call } = yield* MethodNode
      const ask = (query: string) =>
        Effect.map(rest.answer(pageRequest(`${FIND_PATH}?${query}`)), ({ body, status }) => ({
          status,
          text: String(body)
        }))
      // Blocks that arrive meanwhile put the background off.
      yield* eventually(
        "the search indexes are built",
        Effect.zipRight(
          TestClock.adjust("2 seconds"),
          Effect.map(ask("text=sierrabd&includeExpired=1"), ({ text }) => JSON.parse(text).indexed === 1)
        )
      )
      const one = JSON.parse((yield* ask("text=SierraBD&includeExpired=1")).text)
      assert.deepStrictEqual(one.names.map((each: { readonly name: string }) => each.name), ["d/sierrabd83"])
      assert.isUndefined(one.next)
      const first = JSON.parse((yield* ask("namespace=d/&includeExpired=true&limit=3")).text)
      assert.lengthOf(first.names, 3)
      const second = JSON.parse((yield* ask(`namespace=d/&includeExpired=true&limit=3&cursor=${first.next}`)).text)
      assert.notDeepEqual(second.names[0], first.names[2])
      const { text } = yield* call("name_find", {
        namespace: "d/",
        includeExpired: true,
        limit: 6,
        valueEncoding: "hex"
      })
      assert.deepStrictEqual(JSON.parse(text).names, [...first.names, ...second.names])
    }))

  it.effect("refuses what it cannot answer, with a text", () =>
    Effect.gen(function*() {
      const rest = yield* handler
      const refused = (query: string) =>
        Effect.map(rest.answer(pageRequest(`${FIND_PATH}?${query}`)), ({ body, status }) => `${status} ${String(body)}`)
      assert.match(yield* refused(""), /^400 give at least one of/)
      assert.match(yield* refused("text=ab"), /^400 text must have at least 3 characters/)
      assert.match(yield* refused("text=abc%00d"), /^400 text must not contain the character U\+0000/)
      assert.match(yield* refused("key=mx"), /^400 key must be one of/)
      assert.match(yield* refused("owner=none"), /^400 invalid address/)
      assert.match(yield* refused("text=abc&limit=x"), /^400 limit must be a whole number/)
      assert.match(yield* refused("text=abc&includExpired=1"), /^400 "includExpired" is not one of text, key, value/)
      assert.match(
        yield* refused("text=abc&includeExpired=yes"),
        /^400 includeExpired must be one of 0, 1, true, false/
      )
      assert.match(yield* refused("text=abc&text=abd"), /^400 text: is given more than once/)
      assert.match(yield* refused("text=abc&limit=1001"), /^400 limit must be from 1 to 1000/)
      assert.match(yield* refused("text=abc&cursor=x"), /^400 the cursor is not one of this query/)
      assert.isFalse(rest.serves(pageRequest("/rest/name/d.json")))
    }))
})
