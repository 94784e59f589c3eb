import type { Param } from "../../../src/rpc/method/params.ts"

/** The values at the ends of parameters. */
export interface Leaves {
  readonly number: unknown
  /** A text for the parameter of this name. */
  readonly text: (name: string) => unknown
  readonly hex: unknown
  /** The items of an array. */
  readonly items: number
  /** A key of an object whose keys are data. */
  readonly key: string
}

/** A value for a parameter and all its parts. */
export const filled = (name: string, param: Param<unknown>, leaves: Leaves): unknown => {
  switch (param.kind) {
    case "string":
      return leaves.text(name)
    case "hex":
      return leaves.hex
    case "integer":
    case "number":
    case "amount":
      return leaves.number
    case "boolean":
      return true
    case "array": {
      const item = param.item === undefined ? leaves.text(name) : filled(name, param.item, leaves)
      return Array.from({ length: leaves.items }, () => item)
    }
    case "object":
    case "any":
      return param.members === undefined
        ? { [leaves.key]: leaves.number }
        : Object.fromEntries(
          Object.entries(param.members).map(([member, each]) => [member, filled(member, each, leaves)])
        )
  }
}
