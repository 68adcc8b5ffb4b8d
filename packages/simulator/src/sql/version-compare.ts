/**
 * Version comparison as osquery's `version_compare` does it: plain versions by default, and the
 * package managers' own orders as flavours.
 */

export type VersionFlavor = 'ARCH' | 'DPKG' | 'RHEL'

function sign(value: number): -1 | 0 | 1 {
  return value < 0 ? -1 : value > 0 ? 1 : 0
}

function compareText(left: string, right: string): -1 | 0 | 1 {
  return left < right ? -1 : left > right ? 1 : 0
}

function compareDigits(left: string, right: string): -1 | 0 | 1 {
  const [shorter, longer] = [left.replace(/^0+/, ''), right.replace(/^0+/, '')]
  return shorter.length === longer.length
    ? compareText(shorter, longer)
    : sign(shorter.length - longer.length)
}

function compareSegments(left: string, right: string): -1 | 0 | 1 {
  const areNumbers = /^\d+$/.test(left) && /^\d+$/.test(right)
  return areNumbers ? compareDigits(left, right) : compareText(left, right)
}

/** Compares segment by segment, numbers by value; of two that agree the longer one is later. */
export function compareVersions(left: string, right: string): -1 | 0 | 1 {
  const lefts = left.split(/[^0-9A-Za-z]+/)
  const rights = right.split(/[^0-9A-Za-z]+/)
  for (let index = 0; index < Math.min(lefts.length, rights.length); index += 1) {
    const order = compareSegments(lefts[index] ?? '', rights[index] ?? '')
    if (order !== 0) return order
  }
  return sign(lefts.length - rights.length)
}

interface PackageVersion {
  readonly epoch: string
  readonly version: string
  readonly release: string | undefined
}

function splitPackageVersion(text: string): PackageVersion {
  const colon = text.indexOf(':')
  const epoch = colon < 0 ? '0' : text.slice(0, colon)
  const rest = text.slice(colon + 1)
  const dash = rest.lastIndexOf('-')
  return {
    epoch,
    version: dash < 0 ? rest : rest.slice(0, dash),
    release: dash < 0 ? undefined : rest.slice(dash + 1),
  }
}

/** dpkg's character order: `~` before the end, the end before letters, letters before the rest. */
function dpkgWeight(character: string | undefined): number {
  if (character === undefined || /\d/.test(character)) return 0
  if (character === '~') return -1
  return /[A-Za-z]/.test(character) ? character.charCodeAt(0) : character.charCodeAt(0) + 256
}

function compareDpkgPart(left: string, right: string): -1 | 0 | 1 {
  let [leftRest, rightRest] = [left, right]
  while (leftRest !== '' || rightRest !== '') {
    const leftText = /^\D*/.exec(leftRest)?.[0] ?? ''
    const rightText = /^\D*/.exec(rightRest)?.[0] ?? ''
    for (let index = 0; index < Math.max(leftText.length, rightText.length); index += 1) {
      const order = sign(dpkgWeight(leftText[index]) - dpkgWeight(rightText[index]))
      if (order !== 0) return order
    }
    leftRest = leftRest.slice(leftText.length)
    rightRest = rightRest.slice(rightText.length)
    const leftDigits = /^\d*/.exec(leftRest)?.[0] ?? ''
    const rightDigits = /^\d*/.exec(rightRest)?.[0] ?? ''
    const order = compareDigits(leftDigits, rightDigits)
    if (order !== 0) return order
    leftRest = leftRest.slice(leftDigits.length)
    rightRest = rightRest.slice(rightDigits.length)
  }
  return 0
}

/** rpm's segments: `~` sorts before everything, `^` after the end, numbers after letters. */
function compareRpmSegments(left: string | undefined, right: string | undefined): -1 | 0 | 1 {
  if (left === right) return 0
  if (left === '~' || right === '~') return left === '~' ? -1 : 1
  if (left === '^' || right === '^') return rpmCaretOrder(left, right)
  if (left === undefined || right === undefined) return left === undefined ? -1 : 1
  const isLeftNumber = /^\d/.test(left)
  const isRightNumber = /^\d/.test(right)
  if (isLeftNumber !== isRightNumber) return isLeftNumber ? 1 : -1
  return isLeftNumber ? compareDigits(left, right) : compareText(left, right)
}

function rpmCaretOrder(left: string | undefined, right: string | undefined): -1 | 1 {
  if (left === undefined) return -1
  if (right === undefined) return 1
  return left === '^' ? -1 : 1
}

function compareRpmPart(left: string, right: string): -1 | 0 | 1 {
  const lefts = left.match(/\d+|[A-Za-z]+|~|\^/g) ?? []
  const rights = right.match(/\d+|[A-Za-z]+|~|\^/g) ?? []
  for (let index = 0; index < Math.max(lefts.length, rights.length); index += 1) {
    const order = compareRpmSegments(lefts[index], rights[index])
    if (order !== 0) return order
  }
  return 0
}

/** Compares two versions in the order of a package manager, epoch first, release last. */
export function comparePackageVersions(
  left: string,
  right: string,
  flavor: VersionFlavor,
): -1 | 0 | 1 {
  const comparePart = flavor === 'DPKG' ? compareDpkgPart : compareRpmPart
  const [first, second] = [splitPackageVersion(left), splitPackageVersion(right)]
  const byEpoch = compareDigits(first.epoch, second.epoch)
  if (byEpoch !== 0) return byEpoch
  const byVersion = comparePart(first.version, second.version)
  if (byVersion !== 0) return byVersion
  const isReleaseMissing = first.release === undefined || second.release === undefined
  if (flavor === 'ARCH' && isReleaseMissing) return 0
  return comparePart(first.release ?? '', second.release ?? '')
}
