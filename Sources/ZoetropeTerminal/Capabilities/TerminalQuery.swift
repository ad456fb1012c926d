/// The questions that a terminal is asked, in one write.
///
/// The last is for its primary attributes, which every terminal answers: whatever has not been
/// answered by then never will be.
public struct TerminalQuery: Sendable, Hashable {
  /// The bytes to write.
  public let bytes: [UInt8]

  /// The image id of the graphics questions.
  static let imageID = 4211
  /// The image id of the test of edits, which makes and deletes an image of one pixel.
  static let editID = 4212

  /// All questions; inside a multiplexer, only those that it answers itself.
  ///
  /// With `asksForUTF8` a character of two bytes is written, between two questions where the cursor is,
  /// and erased.
  public init(isMultiplexed: Bool = false, asksForUTF8: Bool = false) {
    var bytes: [UInt8] = []
    if !isMultiplexed {
      // A program that was killed may have left an image half sent.
      bytes += TerminalMode.lastChunk
      bytes.append(text: "\u{1B}_Gi=\(Self.imageID),a=q,s=1,v=1,t=d,f=24;AAAA\u{1B}\\")
      // An edit is answered with the frame's number, or with an error, or not at all.
      bytes.append(text: "\u{1B}_Gi=\(Self.editID),a=t,q=1,s=1,v=1,f=24;AAAA\u{1B}\\")
      bytes.append(text: "\u{1B}_Gi=\(Self.editID),a=f,r=1,s=1,v=1,f=24;AAAA\u{1B}\\")
      bytes.append(text: "\u{1B}_Ga=d,d=I,i=\(Self.editID),q=2\u{1B}\\")
    }
    bytes.append(ascii: "\u{1B}[>q")
    bytes.append(ascii: "\u{1B}[?2026$p\u{1B}[?2048$p\u{1B}[?1070$p")
    bytes.append(ascii: "\u{1B}[?u")
    bytes.append(ascii: "\u{1B}[?1;1;0S")
    bytes.append(ascii: "\u{1B}[16t\u{1B}[14t\u{1B}[18t")
    bytes.append(ascii: "\u{1B}]11;?\u{1B}\\")
    if !isMultiplexed {
      // Sets a colour, asks for it back, and takes it back.
      bytes.append(ascii: "\u{1B}[48;2;1;2;3m\u{1B}P$qm\u{1B}\\\u{1B}[m")
    }
    if asksForUTF8 {
      bytes.append(ascii: "\u{1B}7\u{1B}[6n")
      bytes.append(text: "\u{E9}")
      bytes.append(ascii: "\u{1B}[6n\u{1B}8\u{1B}[2X")
    }
    bytes.append(ascii: "\u{1B}[5n")
    bytes.append(ascii: "\u{1B}[c")
    self.bytes = bytes
  }
}
