import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import type * as Effect from "effect/Effect"
import { CONNECTION_OPTIONS } from "../../config/connection.ts"
import type { Option, OptionTable } from "../../config/options.ts"
import { LOG_OPTIONS, LOOKUP_OPTIONS, NAMESPACE_OPTIONS, SERVE_OPTIONS, type Texts, VALUE_OPTIONS } from "./options.ts"

/** The sub-commands of `svcd-mail`, with the flags that each takes and needs. Their texts are validated later. */

export interface MailHandlers<E> {
  readonly register: (label: string, texts: Texts) => Effect.Effect<void, E>
  readonly update: (label: string, texts: Texts) => Effect.Effect<void, E>
  readonly lookup: (label: string, texts: Texts) => Effect.Effect<void, E>
  readonly serve: (texts: Texts) => Effect.Effect<void, E>
}

/** The flags that a sub-command takes, by the names of the sub-commands. */
export const TAKEN: Readonly<Record<string, OptionTable>> = {
  register: { ...VALUE_OPTIONS, ...NAMESPACE_OPTIONS, ...CONNECTION_OPTIONS },
  update: { ...VALUE_OPTIONS, ...NAMESPACE_OPTIONS, ...CONNECTION_OPTIONS },
  lookup: { ...LOOKUP_OPTIONS, ...NAMESPACE_OPTIONS, ...CONNECTION_OPTIONS },
  serve: { ...SERVE_OPTIONS, ...NAMESPACE_OPTIONS, ...CONNECTION_OPTIONS, ...LOG_OPTIONS }
}

/** The texts of one flag. */
type Words = Options.Options<ReadonlyArray<string>>

const wordsOf = (name: string, option: Option, required: boolean): Words => {
  const described = <A>(options: Options.Options<A>): Options.Options<A> =>
    Options.withDescription(options, option.description)
  if (option.toml === "boolean") {
    return described(Options.boolean(name)).pipe(Options.map((on) => on ? ["1"] : []))
  }
  const text = described(Options.text(name))
  return required ? Options.map(text, (word) => [word]) : Options.repeated(text)
}

/** The flags of a sub-command; those in `required` have to be given. */
const flagsOf = (command: string, required?: string): Options.Options<Texts> =>
  Options.all(Object.fromEntries(
    Object.entries(TAKEN[command] ?? {}).map(([name, option]) => [name, wordsOf(name, option, name === required)])
  )).pipe(Options.map((words) => new Map(Object.entries(words).filter(([, texts]) => texts.length > 0))))

const label = Args.text({ name: "label" })

/** The program with these handlers for its sub-commands. */
export const program = <E>({ lookup, register, serve, update }: MailHandlers<E>) =>
  Command.make("svcd-mail").pipe(
    Command.withSubcommands([
      Command.make(
        "register",
        { label, texts: flagsOf("register", "forward") },
        ({ label, texts }) => register(label, texts)
      ),
      Command.make(
        "update",
        { label, texts: flagsOf("update", "forward") },
        ({ label, texts }) => update(label, texts)
      ),
      Command.make("lookup", { label, texts: flagsOf("lookup") }, ({ label, texts }) => lookup(label, texts)),
      Command.make("serve", { texts: flagsOf("serve", "upstream") }, ({ texts }) => serve(texts))
    ])
  )
