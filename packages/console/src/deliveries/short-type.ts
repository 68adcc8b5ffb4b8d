/** The last part of the type of an event, which is what tells types apart: `device-compliance-change`. */
export function shortType(type: string): string {
  return type.slice(type.lastIndexOf('/') + 1)
}
