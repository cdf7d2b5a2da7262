import type { Budget } from '../../src/host/io.ts';

export declare const ENDLESS: Budget;
