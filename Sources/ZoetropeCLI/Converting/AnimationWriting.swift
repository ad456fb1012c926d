import Zoetrope
import ZoetropeProcess

/// Writes one output: creates its file, fills it, and gives it its final name.
struct AnimationWriting {
  let place: AnimationDestination.Place
  let isReplacing: Bool
  /// The name of the input for messages, or nil if there are several inputs.
  let name: String?
  let progress: ProgressReporter
  /// Whether progress includes the number of the attempt to meet a byte budget. Each attempt counts the frames again.
  var numbersAttempts = false
  /// Returns the failure for an error of the library, with the name of the file that caused it.
  let failure: (AnimatedImageError) -> CommandFailure

  /// Writes the output with `body` while signals are caught.
  ///
  /// - Throws: The reason why the output is incomplete. An incomplete file is removed.
  func write(
    frameCount: Int,
    _ body: (OutputSink, (WritingProgress) -> Void) throws(AnimatedImageError) -> WrittenAnimation
  ) throws(CommandFailure) -> WrittenAnimation {
    try Signals.whileCaught { () throws(CommandFailure) in
      let sink: OutputSink
      do throws(WriteFailure) {
        sink = try OutputSink(place, isReplacing: isReplacing)
      } catch {
        throw error.commandFailure
      }
      progress.enter("write", total: frameCount)
      // What is reported next begins a line.
      defer { progress.clear() }
      var last = (frames: 0, bytes: Int?.some(0))
      do throws(AnimatedImageError) {
        let written = try body(sink) { made in
          last = (made.frameCount, made.byteCount)
          if numbersAttempts { progress.expect(made) }
          progress.update(last)
        }
        progress.finish((written.frameCount, written.byteCount))
        return written
      } catch {
        progress.finish(last)
        let rest = sink.hasPassedBytesOn ? "the output is incomplete" : "nothing was written"
        if let failure = CommandFailure.interruption("interrupted, \(rest)", file: name) {
          throw failure
        }
        // A part of an animation is not a result, so a reader that goes away is a failure, unlike one of reports.
        if let reason = sink.failure { throw reason.commandFailure }
        throw failure(error)
      }
    }
  }
}
