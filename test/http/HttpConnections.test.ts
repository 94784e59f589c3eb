import { assert, describe, it } from "@effect/vitest"
import { type HttpConnection, HttpConnections } from "../../src/http/HttpConnections.ts"

const ended: Array<string> = []

const connection = (name: string, key: string, idle = true): HttpConnection & { readonly name: string } => ({
  name,
  key,
  idle: () => idle,
  end: () => void ended.push(name)
})

const names = (connections: Iterable<{ readonly name: string }>) => [...connections].map(({ name }) => name)

describe("Connections", () => {
  it("closes no connection as long as there is room", () => {
    ended.length = 0
    const connections = new HttpConnections<ReturnType<typeof connection>>(2)
    assert.isTrue(connections.add(connection("a", "1")))
    assert.isTrue(connections.add(connection("b", "1")))
    assert.deepStrictEqual([ended, names(connections)], [[], ["a", "b"]])
  })

  it("closes the oldest connection without a request, of the client with the most connections", () => {
    ended.length = 0
    const connections = new HttpConnections<ReturnType<typeof connection>>(4)
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

  it("closes the least recently used connection if all had requests", () => {
    ended.length = 0
    const connections = new HttpConnections<ReturnType<typeof connection>>(3)
    const [a, b, c] = [connection("a", "1"), connection("b", "1"), connection("c", "1")]
    for (const each of [a, b, c, a]) {
      if (connections.size < 3) connections.add(each)
      connections.used(each)
    }
    connections.used(a)
    connections.add(connection("d", "1"))
    assert.deepStrictEqual(ended, ["b"])
  })

  it("closes no busy connection, and refuses the new one if all are busy", () => {
    ended.length = 0
    const connections = new HttpConnections<ReturnType<typeof connection>>(2)
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
