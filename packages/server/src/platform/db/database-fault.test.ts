import { expect, test } from 'vitest'
import {
  isFaultOfContents,
  isFaultOfDatabase,
  isRefusalOfContents,
  isUnknownFault,
} from './database-fault.ts'

/** What an error is about; exactly one of them is so. */
const ABOUT = {
  'the database': isFaultOfDatabase,
  'a conflict or a limit': isFaultOfContents,
  'the contents': isRefusalOfContents,
  'nobody knows what': isUnknownFault,
} as const

test.each([
  ['a queue of notifications that is full', '54000', 'the database', 'PreCommit_Notify'],
  ['a server that does not listen', 'ECONNREFUSED', 'the database'],
  ['a server that shuts down', '57P01', 'the database'],
  ['a standby during a fail-over', '25006', 'the database'],
  ['a full disk', '53100', 'the database'],
  ['a disk that fails', '58030', 'the database'],
  ['a conflict', '40001', 'a conflict or a limit'],
  ['a deadlock', '40P01', 'a conflict or a limit'],
  ['a lock that somebody else keeps', '55P03', 'a conflict or a limit'],
  ['a statement that takes too long', '57014', 'a conflict or a limit'],
  ['too little memory', '53200', 'a conflict or a limit'],
  ['a character that text cannot hold', '22P05', 'the contents'],
  ['a number out of range', '22003', 'the contents'],
  ['a unique violation', '23505', 'the contents'],
  ['a check that fails', '23514', 'the contents'],
  ['a row that is too large', '54000', 'the contents'],
  ['what a trigger raises', 'P0001', 'the contents'],
  ['a column that is not there', '42703', 'nobody knows what'],
  ['a missing file', '58P01', 'nobody knows what'],
  ['a fault of the server itself', 'XX000', 'nobody knows what'],
  ['a bug', undefined, 'nobody knows what'],
  ['a code that only begins alike', '2200', 'nobody knows what'],
] as const)('%s (%s) is about %s', (_, code, expected, routine?: string) => {
  const error = Object.assign(new Error('text'), code === undefined ? {} : { code, routine })
  const about = Object.entries(ABOUT).flatMap(([name, isAbout]) => (isAbout(error) ? [name] : []))
  expect(about).toEqual([expected])
})
