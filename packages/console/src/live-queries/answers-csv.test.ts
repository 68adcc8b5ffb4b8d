import { describe, expect, it } from 'vitest'
import { toAnswersCsv } from './answers-csv.ts'

const answer = (results: Record<string, string>[]) => ({
  device_name: 'Ada’s Mac',
  device_information: { identifier: '7' },
  results,
})

describe('the export of answers', () => {
  it('says before each row whose it is', () => {
    expect(toAnswersCsv([answer([{ days: '3' }])])).toBe(
      '\uFEFF"device","device_id","days"\r\n"Ada’s Mac","7","3"\r\n',
    )
  })

  it('keeps columns of osquery that are named as ours would be', () => {
    const csv = toAnswersCsv([answer([{ device: '/dev/disk1', device_id: '9', path: '/' }])])
    expect(csv).toBe(
      '\uFEFF"asked_device","asked_device_id","device","device_id","path"\r\n"Ada’s Mac","7","/dev/disk1","9","/"\r\n',
    )
  })
})
