/** A JSON-RPC error of the node. */
export interface RpcRefusal {
  readonly code: number
  readonly message: string
}

/** The answer to one call: a result or an error. */
export type Answer = { readonly result: unknown } | { readonly error: RpcRefusal }

/** An answer as text. The size of a database reveals nothing about its content. */
export const wholeText = (answer: Answer | undefined): string =>
  (JSON.stringify(answer) ?? "").replace(/"disk_size":\d+/, "\"disk_size\":0")

/**
 * An answer to compare with that of a node with another history. Left out are: whether a branch was ever connected,
 * which depends on the node and not on the branch; what a registration waits for, which is noted later; and coinbases
 * of disconnected blocks, which are known until the next start, and counted.
 */
export const textOf = (answer: Answer | undefined): string =>
  wholeText(answer)
    .replaceAll("\"status\":\"valid-headers\"", "\"status\":\"valid-fork\"")
    .replace(/"txcount":\d+/, "\"txcount\":0")
    .replaceAll(/"note":"waits for [^"]*",/g, "")

/** Lists whose order depends on when the node met their elements, and is not a promise. */
const UNORDERED: ReadonlySet<string> = new Set([
  "listaddressgroupings",
  "listreceivedbyaddress",
  "listsinceblock",
  "listtransactions",
  "listunspent"
])

const isOrphan = (element: unknown): boolean => recordOf(element)["category"] === "orphan"

/** The same value with all lists in one order, and without coinbases of disconnected blocks. */
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) {
    const texts = value.filter((element) => !isOrphan(element)).map((element) => JSON.stringify(sorted(element)))
    return texts.sort().map((text): unknown => JSON.parse(text))
  }
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([key, member]) => [key, sorted(member)]))
    : value
}

/** Whether two answers, as `textOf` returns them, are the same. */
export const isSame = (method: string, got: string, expected: string): boolean =>
  got === expected ||
  (UNORDERED.has(method) && got !== "" && expected !== "" &&
    JSON.stringify(sorted(JSON.parse(got))) === JSON.stringify(sorted(JSON.parse(expected))))

/** A call: the method, then its parameters. */
export type Question = readonly [method: string, ...params: ReadonlyArray<unknown>]

/** The node does not run, or it ended during the call. */
export class NodeGone extends Error {}

/** Milliseconds without an answer after which the node counts as hung. */
const PATIENCE = 60_000

const answerOf = (value: unknown): Answer => {
  const { error, result } = recordOf(value)
  if (error === undefined || error === null) return { result }
  const { code, message } = recordOf(error)
  return { error: { code: Number(code), message: String(message) } }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new NodeGone(`half an answer: ${String(cause)}`, { cause })
  }
}

/** The answers in the text of a batch. */
export const answersIn = (text: string, count: number): ReadonlyArray<Answer> => {
  const answers = parsed(text)
  if (!Array.isArray(answers) || answers.length !== count) throw new NodeGone("the batch has no answer")
  return answers.map(answerOf)
}

const basic = ({ password, username }: URL): string =>
  `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString("base64")}`

/** A client of a node. */
export class RpcClient {
  readonly url: string

  private readonly calls: string
  private readonly headers: Readonly<Record<string, string>>

  /**
   * At a port of this machine, where calls about a wallet go to the one named; the default wallet has no name. Or at a
   * URL, which may have the user and the password.
   */
  constructor(at: number | URL, wallet = "") {
    const isPort = typeof at === "number"
    this.url = isPort ? `http://127.0.0.1:${at}` : at.origin
    this.calls = isPort ? `${this.url}/wallet/${wallet}` : `${at.origin}${at.pathname}`
    this.headers = isPort || at.username === "" ? {} : { authorization: basic(at) }
  }

  private async post(body: unknown): Promise<string> {
    try {
      const response = await fetch(this.calls, {
        method: "POST",
        headers: this.headers,
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(PATIENCE)
      })
      return await response.text()
    } catch (cause) {
      throw new NodeGone(`no answer: ${String(cause)}`, { cause })
    }
  }

  async ask([method, ...params]: Question): Promise<Answer> {
    return answerOf(parsed(await this.post({ jsonrpc: "2.0", id: 0, method, params })))
  }

  /** The answers to many calls, in their order. */
  async askAll(questions: ReadonlyArray<Question>): Promise<ReadonlyArray<Answer>> {
    return questions.length === 0 ? [] : answersIn(await this.textOfAll(questions), questions.length)
  }

  /** The response text as received, so that an unchanged one is recognised without parsing. */
  textOfAll(questions: ReadonlyArray<Question>): Promise<string> {
    return this.post(questions.map(([method, ...params], id) => ({ jsonrpc: "2.0", id, method, params })))
  }

  /** The result of a call that is expected to have one. */
  async call(...question: Question): Promise<unknown> {
    const answer = await this.ask(question)
    if ("result" in answer) return answer.result
    throw new Error(`${question[0]}: ${answer.error.message} (${answer.error.code})`)
  }

  /** Status and body of a path; status 0 where the node does not answer. */
  async get(path: string): Promise<{ readonly status: number; readonly body: string }> {
    try {
      const response = await fetch(this.url + path, { headers: this.headers, signal: AbortSignal.timeout(PATIENCE) })
      return { status: response.status, body: await response.text() }
    } catch {
      return { status: 0, body: "" }
    }
  }
}

/** The members of an object; of anything else, none. */
export const recordOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {}

export const listOf = (value: unknown): ReadonlyArray<unknown> => Array.isArray(value) ? value : []

export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds))
