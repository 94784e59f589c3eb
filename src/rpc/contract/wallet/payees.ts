import { array, json } from "../../method/params.ts"

export const feePayers = (description: string) => array(json("The index of an output, or its address."), description)
