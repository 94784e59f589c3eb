// An application without effect in its tree: the types of svcd/promise are whole, and none is `any`.

import * as svcd from "svcd/promise"

type IsAny<A> = 0 extends 1 & A ? true : false

/** The names of those members that are `any`, or give `any`. */
type AnyOf<A> = {
  [K in keyof A]-?: IsAny<A[K]> extends true ? K
    : A[K] extends new(fields: infer Fields) => infer Made ? (true extends IsAny<Fields> | IsAny<Made> ? K : never)
    : A[K] extends (...given: infer Given) => infer Answer ? (true extends IsAny<Given[0]> | IsAny<Answer> ? K : never)
    : never
}[keyof A]

/** Fails to compile for anything but `never`. */
type Nothing<A extends never> = A

export type Checked = [
  Nothing<AnyOf<typeof svcd>>,
  Nothing<AnyOf<svcd.PromiseClient>>,
  Nothing<AnyOf<Required<svcd.PromiseClientConfig>>>,
  Nothing<AnyOf<svcd.NameRecord>>,
  Nothing<AnyOf<svcd.NameChange>>,
  Nothing<AnyOf<svcd.DomainAnswer>>,
  Nothing<AnyOf<svcd.DomainRecord>>,
  Nothing<AnyOf<svcd.LookupError>>,
  Nothing<AnyOf<svcd.Freshness>>,
  Nothing<AnyOf<svcd.SyncReport>>,
  Nothing<AnyOf<svcd.LogEntry>>
]

/** Each class of errors: its tag, and what it makes. */
export const tags: ReadonlyArray<svcd.SvcdError["_tag"]> = ["NameNotFound", "WalletLocked", "CursorUnusable"]
// @ts-expect-error: no error has this tag
export const wrong: svcd.SvcdError["_tag"] = "NameNotFond"

export const made = [
  new svcd.NameNotFound({ requested: "d/example" }),
  new svcd.CursorUnusable({ cursor: "9-ff", why: "future", oldest: "0" }),
  new svcd.WalletLocked()
]
// @ts-expect-error: the name is missing
export const unmade = new svcd.NameNotFound({})

export const remedy = (error: unknown): string => {
  if (error instanceof svcd.NameNotFound) return `${error.requested}: ${error.message}`
  if (error instanceof svcd.NotSynced) return `${error.phase ?? "?"} at ${error.height + 1}`
  return svcd.isTransient(error) ? "later" : String(svcd.httpStatus(error))
}

export const told = (error: svcd.SvcdError): string => {
  switch (error._tag) {
    case "InvalidRequest":
      return error.field
    case "CursorUnusable":
      return error.why === "future" ? "later" : error.oldest
    default:
      return error.name
  }
}

export const open = async (config: svcd.ClientConfig) => {
  const client = await svcd.newClient({
    timeout: 10_000,
    ...config,
    log: ({ fields, message }) => void [fields, message]
  })
  for await (const change of client.changes({ types: ["pending", "updated"] })) {
    if (change.type === "pending") return change.operation
    if ("cursor" in change) return change.record?.valueHex
  }
  const { records, sources, status } = await client.resolveDomain("www.example.bit", "TLSA", { requireProof: "full" })
  for (const record of records) if (record.type === "TLSA") void [record.usage, record.association, sources[0]?.name]
  // @ts-expect-error: no records have this type
  void client.resolveDomain("example.bit", "AAAAA")
  client.lookup("example.bit", { all: true }, (error, found) => void [error?.code, found, status])
  void svcd.tlsaMatches(new Uint8Array(), records)
  return client.registerName("d/example", "{}", { onProgress: ({ step }) => void step })
}
