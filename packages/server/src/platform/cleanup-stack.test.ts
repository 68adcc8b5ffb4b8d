import { expect, test } from 'vitest'
import { CleanupStack } from './cleanup-stack.ts'

test('undoes the last first, and once', async () => {
  const order: string[] = []
  const cleanup = new CleanupStack()
  cleanup.add(async () => order.push('first'))
  cleanup.add(async () => order.push('second'))
  await cleanup.run()
  await cleanup.run()
  expect(order).toEqual(['second', 'first'])
})

test('undoes the rest although one fails, and tells of the failure', async () => {
  const order: string[] = []
  const cleanup = new CleanupStack()
  cleanup.add(async () => order.push('first'))
  cleanup.add(() => Promise.reject(new Error('broken')))
  await expect(cleanup.run()).rejects.toThrow('broken')
  expect(order).toEqual(['first'])
})
