import { assert, describe, it } from "@effect/vitest"
import { type Connection, Connections } from "../../src/http/Connections.ts"

const ended: Array<string> = []

const connection = (name: string, key: string, idle = true): Connection & { readonly name: string } => ({
  name,
  key,
  idle: () => idle,
  end: () => void ended.push(name)
})

const names = (connections: Iterable<{ readonly name: string }>) => [...connections].map(({ name }) => name)

describe("Connections", () => {
  it("ends nobody as long as there is room", () => {
    ended.length = 0
    const connections = new Connections<ReturnType<typeof connection>>(2)
    assert.isTrue(connections.add(connection("a", "1")))
    assert.isTrue(connections.add(connection("b", "1")))
    assert.deepStrictEqual([ended, names(connections)], [[], ["a", "b"]])
  })

  it("ends the oldest that asked nothing, of the client with the most", () => {
    ended.length = 0
    const connections = new Connections<ReturnType<typeof connection>>(4)
    const used = connection("used", "many")
    for (const each of [connection("other", "few"), used, connection("b", "many"), connection("c", "many")]) {
      connections.add(each)
    }
    connections.used(used)
    connections.add(connection("d", "few"))
    assert.deepStrictEqual(ended, ["b"])
    connections.add(connection("e", "few"))
    // Three to two now.
    assert.deepStrictEqual(ended, ["b", "other"])
  })

  it("ends the one that asked least lately where all have asked", () => {
    ended.length = 0
    const connections = new Connections<ReturnType<typeof connection>>(3)
    const [a, b, c] = [connection("a", "1"), connection("b", "1"), connection("c", "1")]
    for (const each of [a, b, c, a]) {
      if (connections.size < 3) connections.add(each)
      connections.used(each)
    }
    connections.used(a)
    connections.add(connection("d", "1"))
    assert.deepStrictEqual(ended, ["b"])
  })

  it("ends nobody who is at work, and turns the new one away where all are", () => {
    ended.length = 0
    const connections = new Connections<ReturnType<typeof connection>>(2)
    const busy = connection("busy", "1", false)
    connections.add(busy)
    connections.add(connection("b", "2"))
    assert.isTrue(connections.add(connection("c", "1", false)))
    assert.deepStrictEqual(ended, ["b"])
    assert.isFalse(connections.add(connection("d", "3")))
    connections.remove(busy)
    connections.remove(busy)
    assert.isTrue(connections.add(connection("d", "3")))
    assert.strictEqual(connections.size, 2)
  })
})
