internal import Glibc

/// Expands GIF's LZW codes into palette indices.
///
/// Each string of the dictionary already occurs in the output, so a dictionary entry is a single number: the position
/// in the output at which the string starts. Each code creates an entry, whose string consists of the string of the
/// previous code and the first byte of the string of this code. The length of an entry's string is therefore the
/// distance to the position of the next entry, plus one. The table has sixteen kilobytes and stays in the first-level
/// cache together with the recent output. A larger table, with lengths or with the first eight bytes of each string,
/// would not stay there.
///
/// Accepts what browsers accept: no clear code at the start, clear codes anywhere, a dictionary that stays full,
/// strings that extend past the last pixel, and no end code. A code that has no string yet, which browsers reject, ends
/// the frame with the pixels decoded so far.
///
/// Unsafe code, for speed: codes and pixels are accessed through pointers. `Expansion` states the bounds of every
/// access. `headroom` and `slack` provide room for bytes that are written outside the pixels.
///
/// A decoder is a value with its own scratch memory. Copies share no mutable state.
package struct LZWDecoder: Sendable {
  /// The number of bytes before the first pixel that the decoder overwrites with the one-pixel strings.
  package static let headroom = 256
  /// The number of bytes after the last pixel that may be overwritten, because strings are copied in wide chunks.
  package static let slack = 64
  /// The minimum code sizes that can be expanded. GIF allows 2 to 8, and browsers accept 0 to 8.
  package static let minimumCodeSizes = 0...8

  /// The table of an expansion. The positions count from the start of the headroom. For the number of entries, see
  /// ``Expansion/tableCount``.
  private var positions = [UInt32](repeating: 0, count: Expansion.tableCount)
  private var preparedSize = -1
  /// The memory for joined sub-blocks. It is as large as the largest frame so far required.
  private var payload: [UInt8] = []

  package init() {}

  /// Expands `codes`, the joined sub-blocks of a frame, and writes up to `count` pixels to `output`.
  ///
  /// - Precondition: `minimumCodeSize` is one of ``minimumCodeSizes``. The decoder is free to overwrite ``headroom``
  ///   bytes before `output` and ``slack`` bytes after its `count` pixels.
  @unsafe package mutating func expand(
    _ codes: UnsafeRawBufferPointer, minimumCodeSize: Int,
    into output: UnsafeMutablePointer<UInt8>, count: Int
  ) -> LZWResult {
    precondition(Self.minimumCodeSizes.contains(minimumCodeSize) && count >= 0)
    guard let source = codes.baseAddress else {
      let status = count == 0 ? LZWResult.Status.complete : .dataExhausted
      return LZWResult(
        status: status, trailer: count == 0 ? .missing : .endCode, pixelCount: 0, byteOffset: 0)
    }
    let isPrepared = preparedSize == minimumCodeSize
    preparedSize = minimumCodeSize
    return unsafe positions.withUnsafeMutableBufferPointer { table in
      // The array is never empty, so it has an address.
      guard let table = table.baseAddress else { preconditionFailure("no table") }
      var cursor = unsafe Expansion(
        source: source, byteCount: codes.count, base: output - Self.headroom,
        end: Self.headroom + count, table: table, minimumCodeSize: minimumCodeSize)
      if !isPrepared { cursor.prepareTable() }
      return cursor.run()
    }
  }
}

/// The state in which an expansion waits for more codes.
struct LZWCursor: Sendable {
  /// The output position at which the next string is written.
  fileprivate var position = 0
  /// The position of the first bit of the next code, counted from the start of the remaining input.
  fileprivate var bitPosition = 0
  fileprivate var width = 0
  fileprivate var next = 0
}

/// The result of expanding the codes of one GIF frame.
package struct LZWResult: Sendable, Hashable {
  /// The reason why an expansion stopped.
  package enum Status: UInt8, Sendable, Hashable {
    /// Every pixel was written.
    case complete
    /// The end code came before the last pixel.
    case endCodeEarly
    /// A code refers to a string that does not exist yet.
    case invalidCode
    /// The codes ran out before the last pixel.
    case dataExhausted
  }

  /// The data after the last pixel of a ``Status/complete`` frame. This data is not expanded.
  package enum Trailer: UInt8, Sendable, Hashable {
    /// The end code, as the format requires, and at most one zero byte after it, which some encoders write. This is
    /// also the value for an incomplete frame.
    case endCode
    /// No data, not even an end code.
    case missing
    /// Codes of further pixels, or bytes after the end code.
    case surplus
  }

  package var status: Status
  package var trailer: Trailer
  /// The number of pixels written. These pixels, the first ones of the frame, are correct.
  package var pixelCount: Int
  /// The number of bytes of codes before the code at which the expansion stopped.
  package var byteOffset: Int

  package init(
    status: Status, trailer: Trailer = .endCode, pixelCount: Int, byteOffset: Int
  ) {
    self.status = status
    self.trailer = trailer
    self.pixelCount = pixelCount
    self.byteOffset = byteOffset
  }
}

extension LZWDecoder {
  /// Joins the sub-blocks of `data`, expands them, and writes up to `count` pixels to `storage`, starting at offset
  /// ``headroom``.
  ///
  /// - Throws: `outOfMemory` if allocation fails.
  /// - Precondition: The byte count of `storage` is at least `count` plus ``headroom`` plus ``slack``.
  mutating func expand(
    _ data: borrowing RawSpan, minimumCodeSize: Int, into storage: PixelStorage, count: Int
  ) throws(AnimatedImageError) -> (LZWResult, Blocks) {
    precondition(count >= 0 && storage.byteCount - Self.headroom - Self.slack >= count)
    // The array is moved out of `self` for the call, because the closure needs `self` for its table.
    var payload: [UInt8] = []
    swap(&payload, &self.payload)
    defer { swap(&payload, &self.payload) }
    return try unsafe data.withUnsafeBytes { (data) throws(AnimatedImageError) in
      let output = unsafe (storage.baseAddress + Self.headroom)
        .assumingMemoryBound(to: UInt8.self)
      return try unsafe Self.join(data, in: &payload) { codes, blocks in
        unsafe (
          expand(codes, minimumCodeSize: minimumCodeSize, into: output, count: count), blocks
        )
      }
    }
  }
}

// MARK: - Codes that are still arriving

extension LZWDecoder {
  /// Continues an expansion at `cursor`, or begins one if `cursor` is nil, and writes up to `count` pixels to
  /// `storage`, starting at offset ``headroom``. Removes the bytes of `codes` that were fully expanded.
  ///
  /// After ``LZWResult/Status/dataExhausted``, the expansion continues with the next call, when more codes have
  /// arrived. Until then this decoder must not be used for another expansion, because its table and the pixels in
  /// `storage` are part of the state.
  ///
  /// - Precondition: `minimumCodeSize` is one of ``minimumCodeSizes``. The byte count of `storage` is at least `count`
  ///   plus ``headroom`` plus ``slack``.
  mutating func expandMore(
    _ codes: inout [UInt8], at cursor: inout LZWCursor?, minimumCodeSize: Int,
    into storage: PixelStorage, count: Int
  ) -> LZWResult {
    precondition(Self.minimumCodeSizes.contains(minimumCodeSize) && count >= 0)
    precondition(storage.byteCount - Self.headroom - Self.slack >= count)
    let begun = cursor
    var end = LZWCursor()
    let result = unsafe codes.withUnsafeBytes { codes -> LZWResult? in
      guard let source = codes.baseAddress else { return nil }
      return unsafe positions.withUnsafeMutableBufferPointer { table in
        guard let table = table.baseAddress else { preconditionFailure("no table") }
        var expansion = unsafe Expansion(
          source: source, byteCount: codes.count,
          base: storage.baseAddress.assumingMemoryBound(to: UInt8.self),
          end: Self.headroom + count, table: table, minimumCodeSize: minimumCodeSize)
        let result: LZWResult
        if let begun {
          expansion.position = begun.position
          expansion.bitPosition = begun.bitPosition
          expansion.width = begun.width
          expansion.next = begun.next
          result = expansion.proceed()
        } else {
          expansion.prepareTable()
          result = expansion.run()
        }
        end.position = expansion.position
        end.bitPosition = expansion.bitPosition
        end.width = expansion.width
        end.next = expansion.next
        return result
      }
    }
    guard let result else {
      let pixels = begun.map { $0.position - Self.headroom } ?? 0
      return LZWResult(status: .dataExhausted, pixelCount: pixels, byteOffset: 0)
    }
    preparedSize = -1
    codes.removeFirst(end.bitPosition >> 3)
    end.bitPosition &= 7
    cursor = end
    return result
  }
}

// MARK: - Sub-blocks

// A frame's codes continue across sub-blocks. Each sub-block is a length byte followed by that many bytes, and a
// sub-block of length 0 marks the end. Joining the sub-blocks costs one copy, but allows codes to be read eight bytes
// at a time.
//
// Unsafe code, for speed: sub-blocks are copied through pointers. A copy of 256 bytes is made only if 256 bytes of the
// source are left. It starts at most at the end of a payload that is shorter than the source, and `join` makes room for
// 256 bytes more than the source has.
extension LZWDecoder {
  /// The extent of joined sub-blocks.
  package struct Blocks: Sendable, Hashable {
    /// The number of bytes of payload in the sub-blocks.
    package var payloadCount = 0
    /// The number of source bytes that were read, including length bytes and the terminator.
    package var sourceCount = 0
    /// Whether the terminating block of length 0 was found.
    package var isTerminated = false
    /// Whether the source ended inside the last sub-block.
    package var isLastBlockCut = false
  }

  /// Returns the byte count of the memory needed to join sub-blocks of `count` bytes in total.
  ///
  /// The payload is shorter than its source, but because a fixed number of bytes is copied per sub-block, up to 255
  /// bytes may be written past the end of the payload. The result is rounded up by at most a quarter, so that a series
  /// of slowly growing frames does not cause an allocation for each frame.
  static func byteCount(for count: Int) -> Int { PixelMemory.rounded(count + 256) }

  /// Copies the payloads of the sub-blocks at the start of `source` one after another into `payload`, and calls `body`
  /// with the joined bytes. `payload` grows if needed, and is never shrunk.
  ///
  /// - Throws: `outOfMemory` if allocation fails.
  @unsafe package static func join<Result>(
    _ source: UnsafeRawBufferPointer, in payload: inout [UInt8],
    _ body: (UnsafeRawBufferPointer, Blocks) -> Result
  ) throws(AnimatedImageError) -> Result {
    try payload.makeRoom(for: source.count + 256, taking: byteCount(for: source.count))
    return unsafe payload.withUnsafeMutableBytes { payload in
      let blocks = unsafe copyBlocks(of: source, into: payload)
      let joined = unsafe UnsafeRawBufferPointer(rebasing: payload[..<blocks.payloadCount])
      return unsafe body(joined, blocks)
    }
  }

  /// Converts an offset in a joined payload to an offset in its sub-blocks. `source` consists of the sub-blocks.
  ///
  /// For the offset just past the payload, returns the offset just past the last available sub-block.
  package static func sourceOffset(
    ofPayload offset: Int, in source: borrowing RawSpan
  ) -> Int {
    var rest = offset
    var at = 0
    while at < source.byteCount && source[at] != 0 {
      let length = min(Int(source[at]), source.byteCount - at - 1)
      if rest < length { return at + 1 + rest }
      rest -= length
      at += 1 + length
    }
    return at
  }

  private static func copyBlocks(
    of source: UnsafeRawBufferPointer, into payload: UnsafeMutableRawBufferPointer
  ) -> Blocks {
    var blocks = Blocks()
    guard let from = source.baseAddress, let to = payload.baseAddress else { return blocks }
    while blocks.sourceCount < source.count {
      let declared = Int(unsafe from.load(fromByteOffset: blocks.sourceCount, as: UInt8.self))
      blocks.sourceCount += 1
      if declared == 0 {
        blocks.isTerminated = true
        break
      }
      let left = source.count - blocks.sourceCount
      let target = unsafe to + blocks.payloadCount
      if left >= 256 {
        // A copy of a fixed size compiles to a few wide moves. The next copy overwrites the excess bytes.
        unsafe memcpy(target, from + blocks.sourceCount, 256)
      } else {
        unsafe memcpy(target, from + blocks.sourceCount, min(declared, left))
      }
      blocks.isLastBlockCut = declared > left
      blocks.sourceCount += min(declared, left)
      blocks.payloadCount += min(declared, left)
    }
    return blocks
  }
}
