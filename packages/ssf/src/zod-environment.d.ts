// The schema library names this type in a schema that this package does not use. It is declared
// here so that the package needs no type definitions of a runtime.
declare class URL {
  constructor(input: string)
  readonly href: string
}
