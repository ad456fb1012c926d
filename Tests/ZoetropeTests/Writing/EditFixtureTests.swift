import TestRunning
import Testing
import Zoetrope

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames
@testable import ZoetropeTestSupport
@testable import ZoetropeWriting

/// Every fixture through every kind of edit: pictures, delays and copied bytes are what they should be.
@Suite("Edits of the fixtures", .computes)
struct EditFixtureTests {
  private static let paths: [String] = {
    let library = FixtureLibrary()
    return FixtureLibrary.folders.flatMap { folder in
      ((try? FixtureFile.list("\(library.root)/\(folder)")) ?? []).sorted().map { "\(folder)/\($0)" }
    }
  }()

  /// The comparison for a fixture; nil if it does not open.
  private func comparison(_ path: String) throws -> EditComparison? {
    try? EditComparison(FixtureLibrary().file(path))
  }

  @Test("There are fixtures of both formats")
  func isNotVacuous() { #expect(Self.paths.count > 150) }

  @Test("Cuts before and after each of the first fifty frames", arguments: paths)
  func cuts(_ path: String) throws {
    guard var comparison = try comparison(path) else { return }
    let count = comparison.frames.count
    for place in 0..<min(count, 50) {
      let head = comparison.run([.frames(place..<count)])
      #expect(head.problem == nil && head.refusal == nil, "\(path) from \(place)")
      let tail = comparison.run([.frames(0..<place + 1)])
      #expect(tail.problem == nil && tail.refusal == nil, "\(path) to \(place)")
      let isCut = comparison.animation.damage.contains { $0.kind == .cutBlock }
      if !isCut { #expect(tail.plan?.isCopy == true, "\(path) to \(place)") }
    }
  }

  @Test(
    "Other times, plays and orders",
    arguments: paths)
  func others(_ path: String) throws {
    guard var comparison = try comparison(path) else { return }
    let size = comparison.animation.canvasSize
    let half = PixelRect(
      x: size.width / 3, y: size.height / 4, width: (size.width + 1) / 2,
      height: (size.height + 1) / 2)
    let edits: [[AnimationEdit]] = [
      [], [.speed(2)], [.speed(0.75)], [.duration(.seconds(3))], [.playCount(.once)],
      [.playCount(.finite(7))], [.playCount(.indefinite)], [.delay(FrameDelay(centiseconds: 9))],
      [.reverse], [.backAndForth], [.framesPerSecond(4)], [.crop(half)], [.reverse, .reverse],
      [.crop(half), .reverse, .speed(1.5)], [.backAndForth, .framesPerSecond(6), .playCount(.finite(2))],
    ]
    for list in edits {
      let outcome = comparison.run(list)
      #expect(outcome.problem == nil && outcome.refusal == nil,
        "\(path) \(list): \(outcome.problem ?? "") \(String(describing: outcome.refusal))")
    }
  }

  @Test("Speed, delays and plays copy every frame", arguments: paths)
  func copies(_ path: String) throws {
    guard var comparison = try comparison(path) else { return }
    guard !comparison.animation.damage.contains(where: { $0.kind == .cutBlock }) else { return }
    for edit in [AnimationEdit.speed(0.5), .playCount(.finite(3)), .delay(FrameDelay(centiseconds: 4))] {
      let outcome = comparison.run([edit])
      #expect(outcome.plan?.isCopy == true, "\(path) \(edit)")
    }
  }
}
