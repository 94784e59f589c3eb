import { assert, describe, it } from "@effect/vitest"
import type { PlaceShare } from "../../src/base/FairPlaces.ts"
import { type HttpConnection, HttpConnections } from "../../src/http/HttpConnections.ts"

const ended: Array<string> = []

interface Named extends HttpConnection {
  readonly name: string
  share: PlaceShare
}

const connection = (name: string, ...share: PlaceShare): Named => ({ name, share, end: () => void ended.push(name) })

const names = (connections: Iterable<Named>) => [...connections].map(({ name }) => name)

describe("HttpConnections", () => {
  it("closes no connection as long as there is room", () => {
    ended.length = 0
    const connections = new HttpConnections<Named>(2)
    connections.add(connection("a", "1"))
    connections.add(connection("b", "1"))
    assert.deepStrictEqual([ended, names(connections)], [[], ["a", "b"]])
  })

  it("closes the least recently used connection of the user and address with the most", () => {
    ended.length = 0
    const connections = new HttpConnections<Named>(4)
    const [a, b, c] = ["a", "b", "c"].map((name) => connection(name, "anyone", "many"))
    connections.add(connection("other", "anyone", "few"))
    for (const each of [a, b, c]) if (each !== undefined) connections.add(each)
    if (a !== undefined) connections.used(a)
    connections.add(connection("d", "anyone", "few"))
    assert.deepStrictEqual(ended, ["b"])
    // Two of each address now: that which was used longest ago.
    connections.add(connection("e", "anyone", "third"))
    assert.deepStrictEqual(ended, ["b", "c"])
    assert.strictEqual(connections.size, 4)
  })

  it("counts a connection for its user once the user is known", () => {
    ended.length = 0
    const connections = new HttpConnections<Named>(3)
    const [operator, a, b] = [connection("operator", "anyone"), connection("a", "anyone"), connection("b", "anyone")]
    for (const each of [operator, a, b]) connections.add(each)
    operator.share = ["operator"]
    connections.used(operator)
    connections.used(a)
    connections.used(b)
    for (const name of ["c", "d", "e"]) connections.add(connection(name, "anyone"))
    assert.deepStrictEqual(ended, ["a", "b", "c"])
  })

  it("neither counts nor closes a connection with a running call", () => {
    ended.length = 0
    const connections = new HttpConnections<Named>(2)
    const busy = connection("busy", "1")
    connections.add(busy)
    connections.working(busy, true)
    for (const name of ["a", "b", "c"]) connections.add(connection(name, "1"))
    assert.deepStrictEqual([ended, connections.size], [["a"], 3])
    connections.working(busy, false)
    assert.deepStrictEqual([ended, names(connections)], [["a", "b"], ["busy", "c"]])
    connections.working(busy, true)
    connections.remove(busy)
    connections.working(busy, false)
    assert.deepStrictEqual(names(connections), ["c"])
  })
})
