internal import Logging

extension PlaybackSession {
  /// Hands a frame to the consumer and writes down that it did.
  func deliver(
    _ presentation: PlaybackStateMachine.Presentation, _ state: inout State,
    _ aftermath: inout PlaybackAftermath, at now: Duration
  ) {
    let index = presentation.step.frame
    guard let ticket = state.holding(index)?.ticket, case .success(let frame) = ticket.outcome
    else { return }
    aftermath.shown = ticket
    let origin = state.firstDeadline ?? presentation.deadline
    state.firstDeadline = origin
    // Both hold every change; pixels know more, except after the reader has jumped.
    let structural = shared.dirtyRect(from: state.lastIndex, to: index)
    let isNextInOrder = state.lastIndex.map { $0 + 1 == index } ?? false
    let scheduled = ScheduledFrame(
      index: index, play: presentation.step.play, bitmap: frame.bitmap,
      delay: shared.frames[index].delay, duration: presentation.duration,
      presentationTime: presentation.deadline - origin, lateness: presentation.lateness,
      dirtyRect: isNextInOrder ? structural.intersection(frame.dirtyRect) : structural,
      skipped: presentation.skipped, isLast: presentation.isLast, damage: frame.damage,
      seekCount: state.seekCount)
    state.lastIndex = index
    let delivery = mailbox.put(scheduled)
    if delivery.hasReplaced { state.statistics.replaced += 1 }
    aftermath.delivery = delivery
    state.statistics.presented += 1
    state.statistics.skipped += presentation.skipped
    state.statistics.lateness.record(presentation.lateness)
    if options.recordsTrace {
      state.trace.entries.append(
        PlaybackTrace.Entry(
          index: index, play: presentation.step.play,
          deadline: presentation.deadline.wholeNanoseconds,
          decoded: state.readyAt.wholeNanoseconds, yielded: now.wholeNanoseconds,
          lateness: presentation.lateness.wholeNanoseconds, skipped: presentation.skipped))
    }
  }

  /// Counts the decode of the pending frame, if this session caused it.
  func noteDecoding(_ state: inout State) {
    guard let index = state.machine.pending?.frame,
      let place = state.holdings.firstIndex(where: { $0.frame == index }),
      state.holdings[place].isOwn
    else { return }
    state.holdings[place].isOwn = false
    let time = state.holdings[place].ticket.decodeTime
    state.statistics.decoded += 1
    state.statistics.decodeTime += time
    state.statistics.maximumDecodeTime = max(state.statistics.maximumDecodeTime, time)
  }

  /// The thread on which handlers are called: one that blocks, as handlers may, holds up no frame.
  private static let loggingThread = DecodeThreads(count: 1)

  func log(skip count: Int, before index: Int) {
    guard let logger, logger.logLevel <= .debug else { return }
    Self.loggingThread.run {
      logger.debug("frames skipped", metadata: ["count": "\(count)", "before": "\(index)"])
    }
  }

  /// Calls `announce` when the end is in the log, so that whoever sees the end finds it there.
  func log(
    ending reason: PlaybackState, _ statistics: PlaybackStatistics,
    then announce: @escaping @Sendable () -> Void
  ) {
    guard let logger else { return announce() }
    Self.loggingThread.run {
      let metadata: Logger.Metadata = ["statistics": "\(statistics)"]
      if case .failed(let error) = reason {
        logger.warning("playback failed: \(error)", metadata: metadata)
      } else {
        logger.info("playback \(reason)", metadata: metadata)
      }
      announce()
    }
  }
}
