/* What the built-in checks say in German. */
import { accessChecks } from './access-checks.ts'
import { careChecks } from './care-checks.ts'
import type { CheckWordsBySlug } from './check-words.ts'
import { hardeningChecks } from './hardening-checks.ts'
import { protectionChecks } from './protection-checks.ts'
import { sharingChecks } from './sharing-checks.ts'
import { softwareChecks } from './software-checks.ts'
import { systemChecks } from './system-checks.ts'

/** By the slug of the check. */
export const GERMAN_CHECKS: CheckWordsBySlug = {
  ...systemChecks,
  ...careChecks,
  ...protectionChecks,
  ...hardeningChecks,
  ...accessChecks,
  ...sharingChecks,
  ...softwareChecks,
}
