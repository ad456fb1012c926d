extension BudgetSearch {
  /// The settings with which a file is written.
  package struct Settings: Sendable, Hashable {
    /// Whether all ways of storing each frame are tried.
    package var isThorough = false
    /// See ``AnimationWriterOptions/tolerance``.
    package var tolerance = 0
    /// The maximum number of colours in a palette, or nil if only the limit in the options applies.
    package var colors: Int?
    /// The maximum number of frames per second, or nil to keep all frames.
    package var rate: Int?
    /// The width and height of pictures, in percent of the original ones.
    package var percent = 100

    package init() {}
  }

  /// The settings that the search may change.
  package struct Levers: Sendable, Hashable {
    /// Whether the effort may be raised.
    package var mayBeThorough: Bool
    /// Whether colours may change, that is, whether there may be fewer colours, or similar ones.
    package var hasColors: Bool
    /// Whether pixels are stored in true colour unless the number of colours is reduced. If so, even a palette of 256
    /// colours makes the file smaller.
    package var isTrueColor: Bool
    /// The tolerance that the options allow in any case.
    package var tolerance: Int
    /// The frame rates to try, which are below that of the animation, in descending order.
    package var rates: [Int]
    /// The values of ``BudgetSearch/Settings/percent`` to try, which are below 100, in descending order.
    package var percents: [Int]

    package init(
      mayBeThorough: Bool, hasColors: Bool, isTrueColor: Bool = false, tolerance: Int = 0,
      rates: [Int], percents: [Int]
    ) {
      (self.mayBeThorough, self.hasColors) = (mayBeThorough, hasColors)
      (self.isTrueColor, self.tolerance) = (isTrueColor, tolerance)
      (self.rates, self.percents) = (rates, percents)
    }

    /// The combinations of frame rate and picture size, from mild to harsh.
    var stages: [Settings] {
      var stages = [Settings()]
      for rate in rates {
        var stage = Settings()
        stage.rate = rate
        stages.append(stage)
      }
      for percent in percents {
        var stage = stages[rates.count]
        stage.percent = percent
        stages.append(stage)
      }
      return stages
    }

    /// The combinations of number of colours and tolerance, from mild to harsh. The rungs after `usualEnd` spoil
    /// pictures more than fewer or smaller ones would, so they are only for the last stage.
    var rungs: (all: [Settings], usualEnd: Int) {
      guard hasColors else { return ([Settings()], 0) }
      var all = isTrueColor ? rungs(nil, stride(from: 0, through: 24, by: 2)) : []
      all += rungs(isTrueColor ? 256 : nil, stride(from: 0, through: 80, by: 2))
      all += rungs(128, stride(from: 48, through: 80, by: 4))
      all += rungs(64, stride(from: 56, through: 80, by: 4))
      all += rungs(32, stride(from: 64, through: 100, by: 4))
      let usualEnd = all.count - 1
      let harshest = all[usualEnd]
      all += rungs(harshest.colors, stride(from: harshest.tolerance + 4, through: 200, by: 4))
      return (all, usualEnd)
    }

    /// The combinations for pictures of at most 256 colours that a tolerance makes no smaller: fewer and fewer colours.
    /// The rungs after `usualEnd` have a tolerance all the same, because with few colours it may help.
    var exactRungs: (all: [Settings], usualEnd: Int) {
      let all = [nil, 128, 64, 32].flatMap { rungs($0, stride(from: 0, through: 0, by: 1)) }
      return (all + rungs(32, stride(from: 4, through: 200, by: 4)), all.count - 1)
    }

    private func rungs(_ colors: Int?, _ tolerances: StrideThrough<Int>) -> [Settings] {
      tolerances.map {
        var rung = Settings()
        (rung.colors, rung.tolerance) = (colors, $0)
        return rung
      }
    }
  }

  /// What the caller has to do next.
  package enum Step: Sendable, Hashable {
    /// Estimate the size of the file with these settings.
    case sample(Settings)
    /// Encode the file with these settings.
    case encode(Settings)
    /// Use the file that was encoded with these settings, and end the search.
    case finish(Settings)
    /// Fail, because no file fits. The value is the size of the smallest known file, or nil if none is known.
    case fail(leastByteCount: Int?)
  }
}
