import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { contrastOf, deriveBrandColours, parseColour, toBrandCss } from './brand-colours.ts'

const rgb = (css: string) => parseColour(css.slice(1))
const colours = fc
  .integer({ min: 0, max: 0xff_ff_ff })
  .map((value) => value.toString(16).padStart(6, '0'))

describe('the colour of an organisation', () => {
  it('can be read in both themes, whatever it is', () => {
    fc.assert(
      fc.property(colours, (colour) => {
        const { head, onHead, light, dark } = deriveBrandColours(colour)
        expect(contrastOf(rgb(head), rgb(onHead))).toBeGreaterThanOrEqual(7)
        for (const ground of ['#ffffff', '#f1f4f4', '#e9eef0']) {
          expect(contrastOf(rgb(light.accent), rgb(ground))).toBeGreaterThanOrEqual(4.5)
        }
        for (const ground of ['#0c141a', '#15202a', '#1f2c37']) {
          expect(contrastOf(rgb(dark.accent), rgb(ground))).toBeGreaterThanOrEqual(4.5)
        }
        for (const { filled, onFilled } of [light, dark]) {
          expect(contrastOf(rgb(filled), rgb(onFilled))).toBeGreaterThanOrEqual(4.5)
        }
      }),
    )
  })

  it('stays what it is where it can be read', () => {
    expect(deriveBrandColours('1d5f86').light.accent).toBe('#1d5f86')
  })

  it('has the contrast that the guidelines give for black and white', () => {
    expect(contrastOf([0, 0, 0], [255, 255, 255])).toBe(21)
  })

  it('becomes a sheet of colours and nothing else', () => {
    expect(toBrandCss(deriveBrandColours('ff0000'))).toMatch(
      /^:root\{(?:--[a-z-]+:#[0-9a-f]{6};?)+\}@media \(prefers-color-scheme:dark\)\{:root\{(?:--[a-z-]+:#[0-9a-f]{6};?)+\}\}$/,
    )
  })
})
