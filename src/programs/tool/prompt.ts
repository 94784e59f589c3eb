import * as Effect from "effect/Effect"
import { outputText } from "../../base/safeText.ts"

/** Without a terminal it asks nothing, and the answer is `undefined` at once. */
export interface Prompt {
  readonly secret: (question: string) => Effect.Effect<string | undefined>
  readonly line: (question: string) => Effect.Effect<string | undefined>
  /** The terminal, and whether results appear there instead of in a file. */
  readonly terminal?: { readonly hasResults: boolean } | undefined
}

const LONGEST = 4_000

const ENTER = /[\r\n]/
const END = "\u0004"
const INTERRUPT = "\u0003"
const ERASE = /[\u0008\u007f]/

export interface PromptTerminal {
  readonly stdin: {
    readonly isTTY: boolean
    setEncoding(encoding: "utf8"): unknown
    setRawMode(mode: boolean): unknown
    on(event: "data", listener: (chunk: string) => void): unknown
    off(event: "data", listener: (chunk: string) => void): unknown
    pause(): unknown
    resume(): unknown
  }
  readonly stderr: { readonly isTTY: boolean; write(text: string): unknown }
  readonly stdout?: { readonly isTTY?: boolean }
}

/** Reads keys until enter. An interrupt ends the question without an answer. */
const ask = ({ stderr, stdin }: PromptTerminal, question: string, echo: boolean): Effect.Effect<string | undefined> =>
  Effect.async((resume) => {
    let text = ""
    const finish = (answer: string | undefined): void => {
      stdin.off("data", onData)
      stdin.setRawMode(false)
      stdin.pause()
      stderr.write("\n")
      resume(Effect.succeed(answer))
    }
    const onData = (chunk: string): void => {
      for (const character of chunk) {
        if (ENTER.test(character)) return finish(text)
        if (character === INTERRUPT || (character === END && text === "")) return finish(undefined)
        if (ERASE.test(character)) {
          if (text !== "" && echo) stderr.write("\b \b")
          text = text.slice(0, -1)
        } else if (character >= " " && text.length < LONGEST) {
          text += character
          if (echo) stderr.write(character)
        }
      }
    }
    stderr.write(outputText(question))
    stdin.setEncoding("utf8")
    stdin.setRawMode(true)
    stdin.on("data", onData)
    stdin.resume()
    return Effect.sync(() => {
      stdin.off("data", onData)
      stdin.setRawMode(false)
      stdin.pause()
    })
  })

/** Opens the streams on use, which saves some milliseconds in a program that asks nothing. */
export const makePrompt = (terminalOf: PromptTerminal): Prompt => {
  const isThere = (): boolean => terminalOf.stdin.isTTY === true && terminalOf.stderr.isTTY === true
  const asking = (echo: boolean) => (question: string): Effect.Effect<string | undefined> =>
    Effect.suspend(() => isThere() ? ask(terminalOf, question, echo) : Effect.succeed(undefined))
  return {
    secret: asking(false),
    line: asking(true),
    get terminal() {
      return isThere() ? { hasResults: terminalOf.stdout?.isTTY === true } : undefined
    }
  }
}
