import { FastCheck } from "effect"

/**
 * The seed of all properties of a run: `PROPERTY_SEED` in the environment, a whole number. Without it each run makes other
 * data, and a failure prints its seed. A seed of its own in a test comes before this one.
 */

const text = process.env["PROPERTY_SEED"]

if (text !== undefined) {
  const seed = Number(text)
  if (text === "" || !Number.isInteger(seed)) throw new Error(`PROPERTY_SEED is not a whole number: ${text}`)
  FastCheck.configureGlobal({ ...FastCheck.readConfigureGlobal(), seed })
}
