/// Writes the chunks of an APNG.
///
/// The first fcTL follows PLTE and tRNS, because existing decoders reject an fcTL that precedes them. Each frame after
/// the first has at least one fdAT, and no fdAT is empty.
struct APNGEncoder: AnimationEncoding {
  private let request: AnimationRequest
  private let storage: PNGStorage
  private let metadata: PNGMetadataChunks
  private var frames: APNGFrameChunks

  /// Creates the encoder of one file.
  ///
  /// - Throws: `limitExceeded` if the canvas is too large for an APNG; `unwritable` if an APNG cannot store the number
  ///   of plays.
  init(_ request: AnimationRequest) throws(AnimatedImageError) {
    let mostPixels = 0x7fff_ffff / 8
    guard request.canvasSize.area <= mostPixels else {
      throw .exceeding(
        .pngPixels, found: request.canvasSize.area, allowed: mostPixels,
        "a canvas of \(request.canvasSize) is too large for an APNG", format: .apng)
    }
    if case .finite(let count) = request.playCount, !(1...0x7fff_ffff).contains(count) {
      throw AnimatedImageError(
        .unwritable, "an APNG cannot store a play count of \(count)", format: .apng)
    }
    let metadata = request.metadata.map { PNGMetadataChunks($0) } ?? PNGMetadataChunks()
    if request.storesRGBA {
      let isDeep = request.isDeep && request.colorTable == nil
      storage = PNGStorage(isDeep: isDeep && request.survey?.fits8Bits != true)
    } else {
      storage =
        PNGStorage(palette: request.colorTable)
        ?? request.survey.map {
          PNGStorage(
            $0, allowsGrey: metadata.profile.isEmpty || metadata.profileIsGrey,
            prefersGrey: metadata.profileIsGrey)
        } ?? PNGStorage(isDeep: request.isDeep)
    }
    self.metadata = metadata
    self.request = request
    frames = APNGFrameChunks(beginsWithStaticImage: !request.hasPoster)
  }

  var isDeep: Bool { storage.form.bitDepth == 16 }

  // On disposal to the background, Pillow clears to black, which is opaque unless black is the transparent colour.
  var canDisposeToBackground: Bool { storage.key?.contains { $0 != 0 } != true }

  func start(frameCount: Int) -> [UInt8] {
    var chunks = PNGChunks(capacity: 4096)
    chunks.append(raw: PNGScanner.signature)
    chunks.append(header: request.canvasSize, storage.form)
    chunks.append(raw: animationControl(frameCount))
    let carried = request.carried
    let (colorType, bitDepth) = (storage.form.colorType.rawValue, storage.form.bitDepth)
    // mDCV, cLLI and sBIT have to precede PLTE, and bKGD has to follow it (5.6).
    chunks.append(raw: carried.head)
    if carried.keepsSignificantBits(colorType, bitDepth) {
      chunks.append(raw: carried.significantBits)
    }
    chunks.append(metadata, storage.form, storage.table, key: storage.keyBytes)
    if carried.keepsBackground(colorType, bitDepth) { chunks.append(raw: carried.background) }
    return chunks.bytes
  }

  // The acTL chunk follows the signature and IHDR.
  func count(_ frameCount: Int) -> (bytes: [UInt8], offset: Int)? {
    (animationControl(frameCount), 8 + 25)
  }

  private func animationControl(_ frameCount: Int) -> [UInt8] {
    var chunk = PNGChunks()
    chunk.append(frameCount: frameCount, request.playCount)
    return chunk.bytes
  }

  mutating func poster(_ coded: CodedFrame) -> [UInt8] {
    var chunks = PNGChunks(capacity: coded.bytes.count + 64)
    chunks.append("IDAT", coded.bytes, limit: PNGChunks.dataLimit)
    return chunks.bytes
  }

  mutating func frame(
    _ coded: CodedFrame, rect: PixelRect, delay: FrameDelay, disposal: DisposalMethod
  ) -> [UInt8] {
    var chunks = PNGChunks(capacity: coded.bytes.count + 64)
    frames.appendControl(rect, delay, disposal, coded.blend, to: &chunks)
    frames.appendData(coded.bytes, to: &chunks)
    return chunks.bytes
  }

  var end: [UInt8] {
    var chunks = PNGChunks()
    chunks.append(raw: request.carried.tail)
    chunks.append("IEND", [])
    return chunks.bytes
  }

  func makeFrameEncoder(effort: EncodingEffort?) -> any FrameCompressing {
    APNGFrameEncoder(storage, effort: effort ?? request.effort, isTrial: effort != nil)
  }

  var workingByteCount: Int {
    let lines =
      (storage.form.rowBytes(width: request.canvasSize.width) + 1) * request.canvasSize.height
    switch request.effort.kind {
    case .fast: return 2 * lines
    case .balanced:
      let searched = min(lines, ScanlineCompressor.trialLimit)
      return 2 * lines + searched + ScanlineCompressor.searchByteCount(searched)
    case .small: return 4 * lines + ScanlineCompressor.searchByteCount(lines)
    }
  }
}

extension AnimationRequest.Carried {
  /// Returns the number of bytes in chunks that a file lacks because its pixels are stored in this form.
  package func lostByteCount(_ colorType: UInt8, _ bitDepth: Int) -> Int {
    (keepsSignificantBits(colorType, bitDepth) ? 0 : significantBits.count)
      + (keepsBackground(colorType, bitDepth) ? 0 : background.count)
  }

  /// Returns whether the numbers of significant bits still apply. There is one for each channel, none above the bits of
  /// a sample, which in a palette has 8 (11.3.2.4).
  fileprivate func keepsSignificantBits(_ colorType: UInt8, _ bitDepth: Int) -> Bool {
    guard let header, header.colorType == colorType else { return false }
    return colorType == PNGForm.ColorType.palette.rawValue || bitDepth >= Int(header.bitDepth)
  }

  /// Returns whether the background colour still applies. It is stored as a pixel is. Palettes are made anew (11.3.4.1).
  fileprivate func keepsBackground(_ colorType: UInt8, _ bitDepth: Int) -> Bool {
    guard let header, header.colorType == colorType else { return false }
    return colorType != PNGForm.ColorType.palette.rawValue && bitDepth == Int(header.bitDepth)
  }
}
