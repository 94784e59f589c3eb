import type { Attack } from "./catalogue.ts"
import type { Field } from "./Field.ts"

/** Bytes of the largest body that is taken. */
const BODY = 32 * 1024 * 1024

/** A request with a body, as it travels. */
const request = (body: string | Buffer, authorization?: string): Buffer => {
  const bytes = Buffer.from(body)
  const credentials = authorization === undefined
    ? ""
    : `Authorization: Basic ${Buffer.from(authorization).toString("base64")}\r\n`
  return Buffer.concat([
    Buffer.from(`POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n${credentials}Content-Length: ${bytes.length}\r\n\r\n`),
    bytes
  ])
}

const call = (method: string, ...params: ReadonlyArray<unknown>): string => JSON.stringify({ id: 1, method, params })

const batch = (count: number, make: (i: number) => string): string =>
  `[${Array.from({ length: count }, (_, i) => make(i)).join(",")}]`

/** Callers that ask for something again and again, each on one connection. */
const asking = (field: Field, callers: number, what: Buffer): Promise<void> =>
  field.each(callers, async () => {
    const socket = await field.caller()
    if (socket === undefined) return
    // What comes is counted by nobody: a caller asks again when bytes come, or when it was thrown out.
    if (!await field.write(socket, what)) return
    await new Promise<void>((resolve) => {
      socket.once("close", () => resolve())
      let quiet: NodeJS.Timeout | undefined
      socket.on("data", () => {
        clearTimeout(quiet)
        quiet = setTimeout(resolve, 200)
      })
    })
    socket.destroy()
  })

/** Callers that ask and never read the answer. */
const neverReading = (field: Field, callers: number, what: Buffer): Promise<void> =>
  field.each(callers, async () => {
    const socket = await field.caller()
    if (socket === undefined) return
    socket.pause()
    if (await field.write(socket, what)) await field.closed(socket)
  })

interface Question {
  readonly name: string
  readonly callers: number
  readonly body: (field: Field) => string
  readonly seconds?: number
  readonly short?: boolean
  readonly unread?: boolean
}

const QUESTIONS: ReadonlyArray<Question> = [
  {
    name: "rpc: decodescript of 31 MB",
    callers: 2,
    short: true,
    body: () => call("decodescript", "51".repeat((BODY - 1_000) / 2))
  },
  {
    name: "rpc: decodescript of a push of 31 MB",
    callers: 2,
    body: () => call("decodescript", `4e00000001${"00".repeat((BODY - 1_000) / 2)}`)
  },
  {
    name: "rpc: 2,000 rpc.discover in a batch",
    callers: 2,
    short: true,
    body: () => batch(2_000, () => call("rpc.discover"))
  },
  {
    name: "rpc: 20,000 getblock 2 in a batch",
    callers: 2,
    short: true,
    body: ({ target: { hashes } }) => batch(20_000, (i) => call("getblock", hashes[1 + i % 600], 2))
  },
  { name: "rpc: gettxoutsetinfo in a batch", callers: 4, body: () => batch(1_000, () => call("gettxoutsetinfo")) },
  {
    name: "rpc: name_scan of everything in a batch",
    callers: 4,
    body: () => batch(2_000, () => call("name_scan", "", 1_000_000))
  },
  {
    name: "rpc: getrawmempool true in a batch",
    callers: 4,
    body: () => batch(2_000, () => call("getrawmempool", true))
  },
  { name: "rpc: a million empty calls in a batch", callers: 2, body: () => batch(1_000_000, () => "{}") },
  { name: "rpc: brackets of 31 MB", callers: 2, body: () => "[".repeat(BODY - 1_000) },
  {
    name: "rpc: decoderawtransaction of 31 MB",
    callers: 2,
    body: () => call("decoderawtransaction", `02000000${"fe00002000"}${"00".repeat((BODY - 2_000) / 2)}`)
  },
  {
    name: "rpc: long answers that are never read",
    callers: 100,
    unread: true,
    short: true,
    body: ({ target: { hashes } }) => batch(2_000, (i) => call("getblock", hashes[1 + i % 600], 2))
  }
]

const questions: ReadonlyArray<Attack> = QUESTIONS.map((
  { body, callers, name, seconds = 8, short = false, unread }
) => ({
  name,
  seconds,
  short,
  prepare: (field) => {
    const bytes = request(body(field))
    return () => unread === true ? neverReading(field, callers, bytes) : asking(field, callers, bytes)
  }
}))

/** Who knows the password: the honest caller. */
const AUTHORIZATION = "honest:caller"

const others: ReadonlyArray<Attack> = [
  {
    name: "rpc: bodies that never end",
    seconds: 8,
    prepare: (field) => {
      const whole = request(Buffer.alloc(BODY, 0x20))
      const begun = whole.subarray(0, -1)
      return () =>
        field.each(200, async () => {
          const socket = await field.caller()
          if (socket === undefined) return
          socket.resume()
          if (await field.write(socket, begun)) await field.closed(socket)
        })
    }
  },
  {
    name: "rpc: wrong passwords",
    seconds: 8,
    authorization: AUTHORIZATION,
    prepare: (field) => {
      const wrong = request(call("uptime"), "honest:guess")
      return () => asking(field, 200, wrong)
    }
  }
]

export const rpcAttacks: ReadonlyArray<Attack> = [...questions, ...others]
