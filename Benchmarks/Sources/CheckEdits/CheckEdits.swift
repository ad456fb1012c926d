import Glibc
import SystemPackage
import Zoetrope
import ZoetropeCodec
import ZoetropeCore
import ZoetropeFrames
import ZoetropeTestSupport
import ZoetropeWriting

/// Cuts files at each of their first fifty frames and at ten random later ones, edits them in other ways, and compares
/// every result with the source.
///
///     check-edits FILE...                  every kind of edit of every file; fails if a picture or a byte is wrong
///     check-edits cut FILE FRAME OUT       keeps the frames from FRAME on
///     check-edits plan FILE FRAME OUT      prints what `cut` would do
///     check-edits speed FILE FACTOR OUT    another speed
///     check-edits same FILE FRAME OTHER    counts pictures of OTHER that differ from FILE from FRAME on
///     check-edits damaged COUNT SEED FILE...   random edits of files that are damaged in random ways, without a
///                                          fuzzer's instrumentation, which makes `FuzzEdits` many times slower
@main
enum CheckEdits {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    switch arguments.first {
    case "cut", "speed", "plan": try await edit(Array(arguments))
    case "same": try compare(Array(arguments))
    case "damaged": try checkDamaged(Array(arguments))
    default: try check(Array(arguments))
    }
  }

  private static func edit(_ arguments: [String]) async throws {
    guard arguments.count == 4 else { fatalError("cut or speed, FILE, number, OUT") }
    let image = try AnimatedImage(contentsOf: FilePath(arguments[1]))
    let edit: AnimationEdit
    if arguments[0] != "speed" {
      guard let first = Int(arguments[2]) else { fatalError("no number: \(arguments[2])") }
      edit = .frames(first..<image.frames.count)
    } else {
      guard let factor = Double(arguments[2]) else { fatalError("no number: \(arguments[2])") }
      edit = .speed(factor)
    }
    if arguments[0] == "plan" { return print(try await image.plan([edit])) }
    let sink = try DescriptorSink(FilePath(arguments[3]))
    let written = try await image.write([edit], to: sink)
    print(
      "\(image.byteCount) -> \(written.byteCount) bytes, \(written.copiedCount) frames copied, "
        + "\(written.encodedCount) encoded, \(written.mergedCount) merged")
  }

  private static func compare(_ arguments: [String]) throws {
    guard arguments.count == 4, let first = Int(arguments[2]) else {
      fatalError("FILE FRAME OTHER")
    }
    let source = try AnimatedImage(contentsOf: FilePath(arguments[1]))
    let other = try AnimatedImage(contentsOf: FilePath(arguments[3]))
    let (left, right) = (FrameReader(source), FrameReader(other))
    var different = 0
    for index in first..<source.frames.count {
      let wanted = try left.frame(at: index).bitmap
      let found = try right.next()?.bitmap
      if found != wanted { different += 1 }
    }
    print(
      "\(different) of \(source.frames.count - first) pictures differ, \(other.frames.count) frames"
    )
  }

  /// The counts over all files.
  private struct Tally {
    var files = 0
    var edits = 0
    var copied = 0
    var encoded = 0
    var refused = 0
    var large = 0
    var failures = 0
    /// The largest size of a cut, as a fraction of the allowed size.
    var worst = 0.0
  }

  private static func check(_ paths: [String]) throws {
    var tally = Tally()
    for path in paths {
      let bytes: [UInt8]
      do {
        bytes = try FixtureFile.read(path)
      } catch {
        print("\(path): \(error)")
        continue
      }
      guard var comparison = try? EditComparison(bytes) else { continue }
      tally.files += 1
      let count = comparison.frames.count
      for place in cutPlaces(count) {
        cut(&comparison, place..<count, path, bytes.count, &tally)
        cut(&comparison, 0..<place + 1, path, bytes.count, &tally)
      }
      let size = comparison.animation.canvasSize
      let half = PixelRect(
        x: size.width / 4, y: size.height / 4, width: (size.width + 1) / 2,
        height: (size.height + 1) / 2)
      // For long films, only cuts check the pictures.
      let isLong = count * size.area > 1 << 27
      var others: [[AnimationEdit]] = [
        [.speed(2)], [.speed(0.5)], [.speed(20)], [.playCount(.once)],
        [.playCount(.finite(65_536))],
        [.playCount(.indefinite)], [.playCount(.finite(2))],
      ]
      if !isLong {
        others += [[.reverse], [.backAndForth], [.crop(half)], [.framesPerSecond(7)]]
      }
      for edits in others { run(&comparison, edits, path, &tally) }
    }
    print(
      "\(tally.files) files, \(tally.edits) edits: \(tally.copied) frames copied, \(tally.encoded) encoded; "
        + "\(tally.refused) refused, \(tally.large) too large (at most \(tally.worst)), \(tally.failures) wrong"
    )
    if tally.failures > 0 { fatalError("\(tally.failures) wrong") }
  }

  private static func checkDamaged(_ arguments: [String]) throws {
    guard arguments.count > 2, let count = UInt64(arguments[1]), let start = UInt64(arguments[2])
    else { fatalError("COUNT SEED FILE...") }
    let files = try arguments.dropFirst(3).map(FixtureFile.read) + SeedFilms.make(seed: start)
    var (opened, failures) = (0, 0)
    for seed in start..<start + count {
      var mutator = ByteMutator(seed: seed)
      let file = files[mutator.below(files.count)]
      var bytes =
        GIFMutation.mutate(file, with: &mutator) ?? APNGMutation.mutate(file, with: &mutator)
      if mutator.one(in: 3) { bytes = mutator.mutated(bytes ?? file) }
      var random = SplitMix64(seed: seed)
      guard let outcome = RandomEdits.outcome(bytes ?? file, random: &random) else { continue }
      opened += 1
      guard let problem = outcome.problem else { continue }
      failures += 1
      print("seed \(seed): \(problem)")
    }
    print("\(count) files from seed \(start): \(opened) opened and edited, \(failures) wrong")
    exit(failures == 0 ? 0 : 1)
  }

  /// The frames at which an animation of `count` frames is cut: the first 50, and ten random ones beyond them. The
  /// random frames are the same in every run.
  private static func cutPlaces(_ count: Int) -> [Int] {
    var places = Array(0..<min(count, 50))
    guard count > 50 else { return places }
    var random = SplitMix64(seed: 1)
    places += (0..<10).map { _ in Int.random(in: 50..<count, using: &random) }
    return places
  }

  @discardableResult
  private static func run(
    _ comparison: inout EditComparison, _ edits: [AnimationEdit], _ path: String,
    _ tally: inout Tally
  ) -> EditComparison.Outcome {
    let outcome = comparison.run(edits)
    tally.edits += 1
    if let problem = outcome.problem {
      tally.failures += 1
      print("\(path) \(edits): \(problem)")
    } else if let refusal = outcome.refusal {
      tally.refused += 1
      print("\(path) \(edits): refused, \(refusal)")
    } else if let plan = outcome.plan {
      tally.copied += plan.copiedCount
      tally.encoded += plan.encodedCount
    }
    return outcome
  }

  /// Cuts, and checks that the size is at most 1.05 times the share of the frames, plus one full frame.
  private static func cut(
    _ comparison: inout EditComparison, _ range: Range<Int>, _ path: String, _ byteCount: Int,
    _ tally: inout Tally
  ) {
    let outcome = run(&comparison, [.frames(range)], path, &tally)
    guard outcome.problem == nil, outcome.refusal == nil else { return }
    let frames = comparison.frames
    let kept = frames[range].reduce(0) { $0 + $1.byteRange.count }
    let all = frames.reduce(0) { $0 + $1.byteRange.count }
    // Bytes outside frames are all kept.
    let share = Double(byteCount - all + kept)
    let first = outcome.plan?.frames.first { if case .encoded = $0.action { true } else { false } }
    let fullFrame = first == nil ? 0 : outcome.firstEncodedBytes
    let part = Double(outcome.bytes.count) / (1.05 * share + Double(fullFrame) + 64)
    tally.worst = max(tally.worst, part)
    if part > 1 {
      tally.large += 1
      print(
        "\(path) \(range): \(outcome.bytes.count) bytes, share \(Int(share)), full \(fullFrame)")
    }
  }
}

/// A sink that writes to a file in place.
private final class DescriptorSink: AnimationSink {
  let descriptor: FileDescriptor
  init(_ path: FilePath) throws {
    descriptor = try FileDescriptor.open(
      path, .writeOnly, options: [.create, .truncate], permissions: [.ownerReadWrite])
  }
  var canPatch: Bool { false }
  func write(_ bytes: [UInt8]) throws(AnimatedImageError) {
    do { try descriptor.writeAll(bytes) } catch { throw AnimatedImageError(.io, "\(error)") }
  }
  func patch(_ bytes: [UInt8], at offset: Int) throws(AnimatedImageError) {
    throw AnimatedImageError(.parameter, "not patched")
  }
  func finish() { try? descriptor.close() }
  func abandon() { try? descriptor.close() }
}
