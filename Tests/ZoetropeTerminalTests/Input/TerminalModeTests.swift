import Testing

@testable import ZoetropeTerminal

@Suite(.timeLimit(.minutes(10)))
struct TerminalModeTests {
  @Test func `modes are switched off in reverse order`() {
    let mode = TerminalMode(
      usesAlternateScreen: true, usesMouse: true, isSynchronized: true, keepsSixelRegisters: true,
      imageIDs: [7])
    #expect(
      String(decoding: mode.enter, as: UTF8.self)
        == "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[?2004h\u{1B}[m\u{1B}[H\u{1B}[2J"
        + "\u{1B}[?1002h\u{1B}[?1006h\u{1B}[?1070l")
    #expect(
      String(decoding: mode.restore, as: UTF8.self)
        == "\u{18}\u{1B}\\\u{1B}_Gm=0,q=2;\u{1B}\\\u{1B}[?2026l\u{1B}_Ga=d,d=I,q=2,i=7\u{1B}\\\u{1B}[?1070h"
        + "\u{1B}[?1006l\u{1B}[?1002l\u{1B}[m\u{1B}[?2004l\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"
    )
  }

  @Test func `an image that was cut off is ended, inside a multiplexer too`() {
    #expect(!String(decoding: TerminalMode().abort, as: UTF8.self).contains("_G"))
    let plain = TerminalMode(usesKittyGraphics: true).abort
    #expect(String(decoding: plain, as: UTF8.self) == "\u{18}\u{1B}\\\u{1B}_Gm=0,q=2;\u{1B}\\")
    let wrapped = TerminalMode(usesKittyGraphics: true, passthrough: .tmux).abort
    #expect(
      String(decoding: wrapped, as: UTF8.self)
        == "\u{18}\u{1B}\\\u{1B}Ptmux;\u{1B}\u{1B}_Gm=0,q=2;\u{1B}\u{1B}\\\u{1B}\\")
  }

  @Test func `inline playing leaves the screen as it is`() {
    let mode = TerminalMode()
    #expect(!String(decoding: mode.enter, as: UTF8.self).contains("2J"))
    #expect(!String(decoding: mode.restore, as: UTF8.self).contains("1049"))
  }

  @Test func `something that is not a terminal has no modes`() {
    #expect(RawMode(descriptor: -1) == nil)
  }
}
