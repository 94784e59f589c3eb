import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { encodeText } from "../../../src/protocol/nameText.ts"
import { layer } from "../../support/layer.ts"
import { MethodNode, methodNode } from "../../support/methodNode.ts"

interface Expiring {
  readonly names: ReadonlyArray<{
    readonly name?: string
    readonly address: string
    readonly expires_in: number
    readonly expires_at: number
    readonly mine: boolean
    readonly watched: boolean
  }>
  readonly next?: string
}

const read = (text: string): Expiring => JSON.parse(text)

const HEX = { nameEncoding: "hex", valueEncoding: "hex" }

layer(methodNode())("name_expiring and name_watch", (it) => {
  it.effect("lists the names of all owners in the order of their expiry, over pages, as name_find finds them", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      const found = JSON.parse((yield* call("name_find", { expiresWithin: 30, limit: 1_000, ...HEX })).text)
      assert.isAbove(found.names.length, 20)
      const listed: Array<Expiring["names"][number]> = []
      let cursor: string | undefined
      do {
        const page = read((yield* call("name_expiring", { blocks: 30, limit: 7, cursor, ...HEX })).text)
        listed.push(...page.names)
        cursor = page.next
      } while (cursor !== undefined)
      const shape = (
        { expires_in, name }: { readonly expires_in: number; readonly name?: string }
      ) => [name, expires_in]
      assert.deepStrictEqual(listed.map(shape), found.names.map(shape))
      const left = listed.map(({ expires_in }) => expires_in)
      assert.deepStrictEqual(left, left.toSorted((a, b) => a - b))
    }))

  it.effect("lists the names of an owner, and watched ones, with what they are", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* MethodNode
      const all = read((yield* call("name_expiring", { blocks: 30, limit: 1_000, ...HEX })).text).names
      const owner = all.map(({ address }) => address).find((each) => !each.startsWith("<")) ?? assert.fail()
      const own = read((yield* call("name_expiring", { blocks: 30, owner, ...HEX })).text).names
      assert.sameMembers(
        own.map(({ name }) => name),
        all.filter(({ address }) => address === owner).map(({ name }) => name)
      )
      const [first, , third] = all
      const wanted = [first?.name, third?.name, "642f6e6f6e65"]
      const list = JSON.parse((yield* call("name_watch", "add", wanted, { nameEncoding: "hex" })).text)
      assert.lengthOf(list, 3)
      assert.isUndefined(list.find(({ name }: { readonly name: string }) => name === "642f6e6f6e65").expires_in)
      const watched = read((yield* call("name_expiring", { blocks: 30, watched: true, ...HEX })).text).names
      assert.sameMembers(watched.map(({ name }) => name), [first?.name, third?.name])
      assert.isTrue(watched.every((each) => each.watched && !each.mine))
      const page = read((yield* call("name_expiring", { blocks: 30, watched: true, limit: 1, ...HEX })).text)
      assert.lengthOf(page.names, 1)
      const rest = yield* call("name_expiring", { blocks: 30, watched: true, limit: 1, cursor: page.next, ...HEX })
      assert.lengthOf(read(rest.text).names, 1)
      assert.isUndefined(read(rest.text).next)
      const text = encodeText(Buffer.from(first?.name ?? "", "hex"), "ascii")
      if (text !== undefined) yield* call("name_watch", "remove", text)
      yield* call("name_watch", "remove", wanted, { nameEncoding: "hex" })
      assert.strictEqual((yield* call("name_watch")).text, "[]")
      assert.strictEqual((yield* refusal("name_watch", "add")).message, "add and remove need names")
      assert.strictEqual((yield* refusal("name_watch", "put")).code, -8)
      assert.strictEqual((yield* refusal("name_watch", "add", [5])).code, -3)
      assert.strictEqual((yield* refusal("name_watch", "add", ["é"])).code, -1000)
      assert.strictEqual((yield* refusal("name_expiring", { owner, mine: true })).code, -8)
      assert.strictEqual((yield* refusal("name_expiring", { blocks: 0 })).code, -8)
      assert.strictEqual((yield* refusal("name_expiring", { blocks: 36_001 })).code, -8)
      assert.strictEqual((yield* refusal("name_expiring", { mine: true, cursor: "x" })).code, -8)
      assert.strictEqual((yield* refusal("name_expiring", { cursor: "1.5.00" })).code, -8)
      assert.strictEqual((yield* refusal("name_expiring", { owner: "nowhere" })).code, -5)
    }))
})

layer(methodNode({ wallets: true }))("name_expiring with a wallet", (it) => {
  it.effect("lists no name of a wallet that has none", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      assert.deepStrictEqual(read((yield* call("name_expiring", { mine: true, blocks: 30 })).text).names, [])
    }))
})
