import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { createServer, get, type IncomingMessage } from "node:http"
import type { AddressInfo, LookupFunction } from "node:net"
import { ClientClosed, InvalidRequest, NotSynced } from "../../../src/client/promise/errors.ts"
import { type DomainLookup, makeLookup } from "../../../src/client/promise/lookup.ts"
import type { DomainRecord, DomainStatus } from "../../../src/dns/domainRecord.ts"

const address = (type: "A" | "AAAA", text: string): DomainRecord => ({
  name: "x.bit.",
  type,
  ttl: 600,
  data: text,
  address: text
})

const target = (type: "CNAME" | "NS", text: string): DomainRecord => ({
  name: "x.bit.",
  type,
  ttl: 600,
  data: text,
  target: text
})

interface Found {
  readonly status: DomainStatus
  readonly records: ReadonlyArray<DomainRecord>
}

const ANSWERS: Readonly<Record<string, Readonly<Record<"A" | "AAAA", Found>>>> = {
  "both.bit": {
    A: {
      status: "records",
      records: [target("CNAME", "y.bit."), address("A", "127.0.0.1"), address("A", "127.0.0.2")]
    },
    AAAA: { status: "records", records: [target("CNAME", "y.bit."), address("AAAA", "::1")] }
  },
  "four.bit": {
    A: { status: "records", records: [address("A", "127.0.0.1")] },
    AAAA: { status: "no-data", records: [] }
  },
  "none.bit": { A: { status: "no-name", records: [] }, AAAA: { status: "no-name", records: [] } },
  "cut.bit": {
    A: { status: "delegated", records: [target("NS", "ns.example.org.")] },
    AAAA: { status: "delegated", records: [target("NS", "ns.example.org.")] }
  },
  "outside.bit": {
    A: { status: "alias-outside", records: [target("CNAME", "localhost.")] },
    AAAA: { status: "alias-outside", records: [target("CNAME", "localhost.")] }
  }
}

const lookup = makeLookup(async (host, type) => {
  const found = ANSWERS[host.toLowerCase().replace(/\.$/, "")]?.[type]
  if (found !== undefined) return found
  if (host === "late.bit") throw new NotSynced({ height: 7 })
  if (host === "closed.bit") throw new ClientClosed()
  if (host === "wrong..bit") throw new InvalidRequest({ field: "host", reason: "is not a host" })
  throw new Error(`asked for ${host}`)
})

/** The arguments of the callback, with the code in place of the error. */
const asked = (hostname: string, options: Parameters<DomainLookup>[1] = {}, by = lookup) =>
  new Promise<ReadonlyArray<unknown>>((resolve) =>
    by(
      hostname,
      typeof options === "function" ? {} : options,
      (error, ...found) => resolve(error === null ? found : [error.code, error.hostname])
    )
  )

const FOUR = { address: "127.0.0.1", family: 4 }
const OTHER_FOUR = { address: "127.0.0.2", family: 4 }
const SIX = { address: "::1", family: 6 }

describe("lookup", () => {
  it("answers in the forms of dns.lookup", async () => {
    assert.deepStrictEqual(await asked("both.bit"), ["127.0.0.1", 4])
    assert.deepStrictEqual(await asked("Both.BIT.", 6), ["::1", 6])
    assert.deepStrictEqual(await asked("both.bit", { family: "IPv6" }), ["::1", 6])
    assert.deepStrictEqual(await asked("both.bit", { all: true }), [[FOUR, OTHER_FOUR, SIX]])
    assert.deepStrictEqual(await asked("both.bit", { all: true, family: 4 }), [[FOUR, OTHER_FOUR]])
    assert.deepStrictEqual(await asked("both.bit", { all: true, order: "ipv6first" }), [[SIX, FOUR, OTHER_FOUR]])
    assert.deepStrictEqual(await asked("four.bit", { all: true, hints: 1_024 }), [[FOUR]])
    const plain = await new Promise((resolve) => lookup("four.bit", (_, found, family) => resolve([found, family])))
    assert.deepStrictEqual(plain, ["127.0.0.1", 4])
  })

  it("fails with the codes of dns.lookup", async () => {
    assert.deepStrictEqual(await asked("none.bit"), ["ENOTFOUND", "none.bit"])
    assert.deepStrictEqual(await asked("four.bit", { family: 6 }), ["ENODATA", "four.bit"])
    assert.deepStrictEqual(await asked("cut.bit"), ["ENODATA", "cut.bit"])
    assert.deepStrictEqual(await asked("late.bit"), ["EAI_AGAIN", "late.bit"])
    assert.deepStrictEqual(await asked("closed.bit"), ["ECANCELLED", "closed.bit"])
    assert.deepStrictEqual(await asked("wrong..bit"), ["ENOTFOUND", "wrong..bit"])
    assert.deepStrictEqual(await asked("broken.bit"), ["EAI_FAIL", "broken.bit"])
    const late = await new Promise((resolve) => lookup("late.bit", (error) => resolve(error)))
    assert.instanceOf(late, Error)
    assert.instanceOf(late.cause, NotSynced)
  })

  it("refuses a wrong family and a missing callback at once", () => {
    const ignore = () => {}
    assert.throws(() => lookup("both.bit", { family: 5 }, ignore), TypeError)
    assert.throws(() => Reflect.apply(lookup, undefined, ["both.bit", {}]), TypeError)
  })

  it("asks the system for hosts outside .bit and for the alias of one, and never for a host in .bit", async () => {
    assert.deepStrictEqual(await asked("127.0.0.9"), ["127.0.0.9", 4])
    assert.deepStrictEqual(await asked("localhost", { family: 4 }), ["127.0.0.1", 4])
    assert.deepStrictEqual(await asked("outside.bit", { family: 4, all: true }), [[FOUR]])
    const all: Array<string> = []
    const recording = makeLookup((host) => {
      all.push(host)
      return Promise.resolve({ status: "no-name", records: [] })
    })
    for (const host of ["a.bit", "A.B.BIT", "bit.", "bit", ".bit"]) {
      assert.strictEqual((await asked(host, {}, recording))[0], "ENOTFOUND", host)
    }
    assert.strictEqual(all.length, 10)
  })

  it("connects a request of node:http to the address", async () => {
    const server = createServer((request, response) => response.end(request.headers.host)).listen(0, "127.0.0.1")
    await once(server, "listening")
    const { port } = server.address() as AddressInfo
    const forSockets: LookupFunction = lookup
    const request = get(`http://both.bit:${port}/`, { lookup: forSockets })
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.once("response", resolve).once("error", reject)
    })
    const body = await response.setEncoding("utf8").toArray()
    assert.strictEqual(body.join(""), `both.bit:${port}`)
    server.close()
    server.closeAllConnections()
  })
})
